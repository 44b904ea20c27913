//! The components of an SSD's energy, in the order of reports.

pub(super) const COMPONENTS: &[&str] =
    &["controller", "dram", "nand_idle", "nand_read", "nand_program", "nand_erase", "nand_transfer", "host_interface"];
pub(super) const CONTROLLER: usize = 0;
pub(super) const DRAM: usize = 1;
pub(super) const NAND_IDLE: usize = 2;
pub(super) const NAND_READ: usize = 3;
pub(super) const NAND_PROGRAM: usize = 4;
pub(super) const NAND_ERASE: usize = 5;
pub(super) const NAND_TRANSFER: usize = 6;
pub(super) const HOST_INTERFACE: usize = 7;
