//! Places in a hot part of the range and in a cold rest.

use super::{Model, Synthetic, Zones};
use flashwatt_base::registry::Param;

/// The registry line.
pub const ENTRY: Model = Model {
    name: "hot_cold",
    doc: "the first `hot_fraction` of the range gets `hot_share` of the requests (Rosenblum and Ousterhout 1992)",
    params: &[
        Param {
            name: "hot_fraction",
            doc: "share of the range that is hot",
            default: 0.1,
            min: 1e-9,
            max: 1.0,
            integer: false,
        },
        Param {
            name: "hot_share",
            doc: "share of the requests that goes to the hot part",
            default: 0.9,
            min: 0.0,
            max: 1.0,
            integer: false,
        },
    ],
    build: |cfg, seed| {
        let (hot, share) = (cfg.parameter("hot_fraction"), cfg.parameter("hot_share"));
        let zones = Zones::new(cfg.region(), &[(share, hot), (1.0 - share, 1.0 - hot)]);
        Synthetic::open(cfg, zones, seed)
    },
};
