//! Every workload that is registered, as overrides of a configuration.

/// Each model and each stand-in, in a short run with warm-up and a drain that is counted.
pub fn every_workload() -> Vec<[String; 4]> {
    let names = |kind| flashwatt::list(kind).expect("a kind").into_iter().map(|(name, _)| name);
    let models = names("workloads").filter(|name| !["trace", "fio", "standin"].contains(&name.as_str()));
    let length = |name: &str| if name == "files" { "operations=1000" } else { "requests=300" };
    let models = models.map(|name| format!("workload.{name}.{}", length(&name)));
    let all: Vec<String> =
        models.chain(names("standins").map(|name| format!("workload.standin.name={name}"))).collect();
    assert!(all.len() > 10, "{all:?}");
    let bounds = ["run.warmup.requests=20", "run.measure.requests=200", "run.count_drain=true"].map(String::from);
    all.into_iter()
        .map(|one| {
            let [warmup, measure, drain] = bounds.clone();
            [one, warmup, measure, drain]
        })
        .collect()
}
