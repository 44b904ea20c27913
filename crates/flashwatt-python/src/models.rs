//! The papers' closed forms, as JSON.

use flashwatt::models::{mapping_memory as memory, rftl};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// Bytes of mapping tables by scheme.
#[pyfunction]
pub fn mapping_memory(capacity_bytes: u64, page_bytes: u64, block_bytes: u64) -> PyResult<String> {
    let tables = memory::tables(&memory::FlashModel { capacity_bytes, page_bytes, block_bytes });
    let mut row = Map::from_iter([("capacity_bytes".to_string(), json!(capacity_bytes))]);
    if let Value::Object(tables) = json!(tables) {
        row.extend(tables);
    }
    crate::json(&row)
}

/// Mean look-up times in µs over miss ratios, for each assumption; and the cost of replicas.
#[pyfunction]
pub fn rftl_model(misses: Vec<f64>, channels: u32, copies: Vec<u32>, gc: f64) -> PyResult<String> {
    let times = rftl::ModelTimes::default();
    let row = |f: &dyn Fn(f64) -> f64| json!(misses.iter().map(|&miss| f(miss)).collect::<Vec<_>>());
    let mut lookup_us = Map::new();
    lookup_us.insert(format!("base, P_GC = {gc}"), row(&|miss| times.base_us(miss, gc)));
    for n in &copies {
        let p = f64::from(*n) / f64::from(channels);
        lookup_us.insert(format!("{n} copies, P = {p:.3}"), row(&|miss| times.with_replicas_us(miss, p)));
    }
    lookup_us.insert("best, P = 1".into(), row(&|miss| times.best_us(miss)));
    let cost = |replicas: u32| {
        let extra = rftl::extra_writes_per_write(replicas);
        json!({ "replicas": replicas, "extra_writes_per_write": extra, "map_mb": rftl::table_1_mb(replicas) })
    };
    let cost: Vec<_> = [0, 1, 3, 7, 15].map(cost).into();
    crate::json(&json!({ "miss": misses, "lookup_us": lookup_us, "cost": cost }))
}
