//! The host's block layer and its schedulers: hand-worked dispatch orders, merging, waiting, and contracts over every scheduler.

mod anticipatory;
mod bfq;
mod cfq;
mod cfq_el6;
mod claims;
mod contracts;
mod deadline;
mod desk;
mod figures;
mod kyber;
mod merging;
mod mq_deadline;
mod none;
mod noop;
mod pardispatcher;
mod processes;
mod starvation;
mod traces;
