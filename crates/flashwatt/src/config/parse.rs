//! From text to [`Config`]: the preset, the user's file over it, the command line over both.

use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;

use super::layers::{TAGGED, lay, lay_without_rivals};
use super::presets::{DEFAULT_PRESET, PRESETS};
use super::raw::Raw;
use super::resolve::resolve;
use super::{Config, Drive, paths, schema};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::settings::{Checker, KeySource, Node, Rules, Value, WHOLE, convert, parse_set, unknown_name};
use flashwatt_ssd::gc;

/// The key that names the preset.
const PRESET: &str = "device.preset";

/// Largest number of faults that are reported together for one text.
const FAULTS_MAX: usize = 100;

/// Reads a configuration.
///
/// `text` is the user's TOML and `file_name` what messages call it; `sets` are overrides `KEY=VALUE` with dotted keys,
/// where a value that is no TOML stands for itself as a string (`ftl=page`). A number may stand in quotes with a unit
/// (`"64GB"`). Relative paths in the text are relative to the directory of `file_name`. The text is laid key by key over the
/// preset that `device.preset` names — `x25m` if it names none — and the overrides over both. A value tagged from
/// outside (`ftl`, `workload`, `gc.policy`, `run.precondition`) merges with the one below it if both have the same
/// name, and replaces it otherwise. Giving one of several keys that exclude each other drops the others of the layers
/// below.
///
/// # Errors
/// [`Error::Config`] with every fault that can be told apart at once: file (`--set` for an override), line, key, what
/// was found, what was expected, the nearest valid name.
pub fn load(text: &str, file_name: &str, sets: &[String]) -> Result<Config, Error> {
    load_layers(text, file_name, sets).map(|(config, ..)| config)
}

/// The three layers of [`load`] as one text, which gives the same configuration by itself: for a run's record. Keys of the preset
/// that have no effect beside those of the user are left out: written by a user, they are faults. The preset, which the
/// text names, still has them. Of an array that names the presets of members or of its spare, the text has the user's keys
/// alone: a key of one preset would hold for all of these drives.
///
/// # Errors
/// As [`load`].
pub fn merged(text: &str, file_name: &str, sets: &[String]) -> Result<String, Error> {
    let tree = record(text, file_name, sets)?;
    Ok(toml::to_string(&tree.to_toml()).unwrap_or_default())
}

/// As [`merged`], for a file in the directory `beside`: the paths in it lead from there to the same files.
///
/// # Errors
/// As [`load`].
pub fn merged_to(text: &str, file_name: &str, sets: &[String], beside: &Path) -> Result<String, Error> {
    let mut tree = record(text, file_name, sets)?;
    paths::relative(&mut tree, beside);
    Ok(toml::to_string(&tree.to_toml()).unwrap_or_default())
}

/// The rules that are applied to a configuration of overrides alone, whether it is valid or not.
pub(super) fn rules(sets: &[String]) -> Rules {
    let mut faults = Vec::new();
    let tree = layers("", "rules", sets, &mut faults);
    let mut checker = Checker::new(&tree, "rules", &mut faults);
    if let Ok(raw) = Raw::deserialize(&tree) {
        resolve(&mut checker, &raw, &mut |_, _, _| None);
    }
    checker.rules
}

/// The user's two layers: the file, and the overrides.
fn user_layers(text: &str, file_name: &str, sets: &[String], faults: &mut Vec<Fault>) -> (Node, Node) {
    let file = layer(Node::parse(text, file_name, KeySource::File), KeySource::File, faults);
    (file, overrides(sets, faults))
}

/// The three layers, one on another.
fn layers(text: &str, file_name: &str, sets: &[String], faults: &mut Vec<Fault>) -> Node {
    let (file, set) = user_layers(text, file_name, sets, faults);
    let tree = base(&file, &set, faults);
    laid(tree, file, set, file_name, faults)
}

/// As [`layers`], on another preset than the one that they ask for.
fn layers_over(preset: &str, text: &str, file_name: &str, sets: &[String], faults: &mut Vec<Fault>) -> Node {
    let (file, set) = user_layers(text, file_name, sets, faults);
    let mut tree = preset_layer(preset, faults).unwrap_or_else(|| Node::empty(KeySource::Preset));
    lay(&mut tree, preset_named(preset));
    laid(tree, without(file, &[PRESET]), without(set, &[PRESET]), file_name, faults)
}

/// A layer that names a preset, and nothing else.
fn preset_named(preset: &str) -> Node {
    let text = format!("{PRESET} = {preset:?}");
    Node::parse(&text, "preset", KeySource::Preset).unwrap_or_else(|_| Node::empty(KeySource::Preset))
}

fn laid(mut tree: Node, file: Node, set: Node, file_name: &str, faults: &mut Vec<Fault>) -> Node {
    lay(&mut tree, file);
    lay(&mut tree, set);
    paths::resolve(&mut tree, file_name, faults);
    tree
}

/// A tree without these keys.
fn without(mut tree: Node, keys: &[&str]) -> Node {
    for key in keys {
        let path: Vec<String> = key.split('.').map(str::to_string).collect();
        tree.prune(&path, &TAGGED);
    }
    tree
}

/// The configuration, the three layers as one, and the keys of the preset that have no effect.
fn load_layers(text: &str, file_name: &str, sets: &[String]) -> Result<(Config, Node, Vec<&'static str>), Error> {
    let mut faults = Vec::new();
    let tree = layers(text, file_name, sets, &mut faults);
    let mut idle = Vec::new();
    let config = match Raw::deserialize(&tree) {
        Ok(raw) => {
            let mut checker = Checker::new(&tree, file_name, &mut faults);
            let config = resolve(&mut checker, &raw, &mut member_of(text, file_name, sets));
            idle = checker.idle;
            config
        }
        Err(error) => {
            faults.push(error.into_parts().0);
            None
        }
    };
    match config {
        Some(config) if faults.is_empty() => Ok((config, tree, idle)),
        _ => Err(refused(faults)),
    }
}

/// The layers as [`merged`] writes them.
fn record(text: &str, file_name: &str, sets: &[String]) -> Result<Node, Error> {
    let (_, tree, idle) = load_layers(text, file_name, sets)?;
    let members = tree.get("array.members");
    let names_members = members.is_some_and(|node| matches!(node.value, Value::Array(_)));
    if !names_members && tree.get("array.spare").is_none() {
        return Ok(without(tree, &idle));
    }
    let preset = tree.string(PRESET).unwrap_or(DEFAULT_PRESET);
    let base = if names_members { Node::empty(KeySource::Preset) } else { preset_named(preset) };
    let faults = &mut Vec::new(); // there are none: all of this has been read before
    let (file, set) = user_layers(text, file_name, sets, faults);
    Ok(laid(base, file, set, file_name, faults))
}

/// The drive of a preset with the user's other keys about drives laid over it: for the members of an array. A preset that is
/// unknown, or that the user's keys do not fit, is a fault of the key that names it.
fn member_of(text: &str, file_name: &str, sets: &[String]) -> impl FnMut(&mut Checker, &str, &str) -> Option<Drive> {
    move |c, key, preset| {
        if super::preset(preset).is_none() {
            c.push(unknown_preset(preset, c.tree.get(key)));
            return None;
        }
        let mut faults = Vec::new();
        let mut tree = layers_over(preset, text, file_name, sets, &mut faults);
        for table in ["array", "host", "workload", "run"] {
            tree.prune(&[table.to_string()], &TAGGED);
        }
        let drive = Raw::deserialize(&tree).ok().and_then(|raw| {
            let mut checker = Checker::new(&tree, file_name, &mut faults);
            resolve(&mut checker, &raw, &mut |_, _, _| None).map(|config| config.drive)
        });
        // Of the faults of the user's keys, those that the drive of the configuration itself has are known already.
        let own = c.faults.iter().map(|fault| fault.to_string()).collect::<Vec<_>>();
        let others: Vec<_> = faults.into_iter().filter(|fault| !own.contains(&fault.to_string())).collect();
        let is_whole = others.is_empty();
        for fault in others {
            let help = format!("of the member {preset:?} of the array");
            c.push(fault.help(help));
        }
        drive.filter(|_| is_whole)
    }
}

/// The error of a configuration with these faults, which say all that helps.
pub(super) fn refused(faults: Vec<Fault>) -> Error {
    Error::Config(listed(faults.into_iter().map(ranged).map(tabled).map(elsewhere).map(hinted).collect()))
}

/// One layer without the keys that are wrong by themselves: those are faults.
pub(super) fn layer(parsed: Result<Node, Vec<Fault>>, origin: KeySource, faults: &mut Vec<Fault>) -> Node {
    match parsed {
        Ok(mut node) => {
            prune_faults(&mut node, faults);
            node
        }
        Err(found) => {
            faults.extend(found);
            Node::empty(origin)
        }
    }
}

fn overrides(sets: &[String], faults: &mut Vec<Fault>) -> Node {
    let mut all = Node::empty(KeySource::Set);
    for set in sets {
        let one = layer(parse_set(set), KeySource::Set, faults);
        faults.extend(TAGGED.iter().filter_map(|path| two_names(&all, &one, path)));
        lay_without_rivals(&mut all, one);
    }
    all
}

/// Overrides may name something anew (`workload=uniform`), but not set keys of two things of which there is one.
fn two_names(before: &Node, now: &Node, path: &str) -> Option<Fault> {
    let (before, now) = (before.get(path)?, now.get(path)?);
    let with_keys = |node: &Node| matches!(&node.value, Value::Table(_)).then(|| node.tag().map(str::to_string))?;
    let (first, second) = (with_keys(before)?, with_keys(now)?);
    let found = format!("keys of `{path}.{first}` and of `{path}.{second}`");
    (first != second)
        .then(|| Fault::at(now.place.clone(), "two on one command line").found(found).expected("one of them"))
}

/// Serde stops at the first fault: so that fault is taken out, and serde asked again.
fn prune_faults(node: &mut Node, faults: &mut Vec<Fault>) {
    while let Err(error) = Raw::deserialize(&*node) {
        let wanted = error.wants_number();
        let (fault, path) = error.into_parts();
        match wanted.map(|whole| with_unit(node, &path, whole)) {
            Some(Ok(true)) => continue,
            Some(Err(fault)) => faults.push(*fault),
            Some(Ok(false)) | None => faults.push(fault),
        }
        if faults.len() >= FAULTS_MAX || !node.prune(&path, &TAGGED) {
            *node = Node::empty(node.origin);
        }
    }
}

/// A text where a number is expected may be a number with a unit: then the number takes its place, once and for all.
fn with_unit(node: &mut Node, path: &[String], whole: bool) -> Result<bool, Box<Fault>> {
    let key = path.last().map(String::as_str).unwrap_or_default();
    node.at_mut(path).map_or(Ok(false), |node| convert(node, key, whole))
}

/// The preset that the user's layers ask for.
fn base(file: &Node, set: &Node, faults: &mut Vec<Fault>) -> Node {
    let asked = set.get(PRESET).or(file.get(PRESET));
    let name = set.string(PRESET).or(file.string(PRESET)).unwrap_or(DEFAULT_PRESET);
    preset_layer(name, faults).unwrap_or_else(|| {
        faults.push(unknown_preset(name, asked));
        preset_layer(DEFAULT_PRESET, faults).unwrap_or_else(|| Node::empty(KeySource::Preset))
    })
}

/// The layer of a preset, which is parsed once: a sweep asks for it at every point.
fn preset_layer(name: &str, faults: &mut Vec<Fault>) -> Option<Node> {
    static LAYERS: [OnceLock<(Node, Vec<Fault>)>; PRESETS.len()] = [const { OnceLock::new() }; PRESETS.len()];
    let at = PRESETS.iter().position(|(known, _)| *known == name)?;
    let (node, found) = LAYERS[at].get_or_init(|| {
        let mut found = Vec::new();
        let parsed = Node::parse(PRESETS[at].1, &format!("preset {name}"), KeySource::Preset);
        (layer(parsed, KeySource::Preset, &mut found), found)
    });
    faults.extend(found.iter().cloned());
    Some(node.clone())
}

fn unknown_preset(name: &str, asked: Option<&Node>) -> Fault {
    let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
    let place = asked.map(|node| node.place.clone()).unwrap_or_default();
    unknown_name(Fault::at(place, "unknown preset"), name, &names)
}

/// A number of the wrong type is wrong before it is checked; what its key takes is said all the same.
fn ranged(mut fault: Fault) -> Fault {
    let whole = fault.expected.as_deref().is_some_and(|expected| expected.starts_with(WHOLE));
    let range = fault.place.key.as_deref().filter(|_| whole).and_then(schema::range);
    if let Some([least, greatest]) = range {
        fault.expected = Some(format!("{WHOLE} {least} to {greatest}"));
    }
    fault
}

/// A value where a table is expected: what the table holds is said all the same.
fn tabled(mut fault: Fault) -> Fault {
    let key = fault.place.key.as_deref().filter(|_| fault.expected.as_deref() == Some("a table"));
    let Some(key) = key else { return fault };
    let below = |known: schema::Key| known.key.strip_prefix(key)?.strip_prefix('.').map(str::to_string);
    let mut names: Vec<_> =
        schema::reference().into_iter().filter_map(below).filter(|key| !key.contains('.')).collect();
    let more = names.len() > TABLE_MAX;
    names.truncate(TABLE_MAX);
    if let Some(first) = names.first() {
        let rest = if more { ", …" } else { "" };
        fault.expected = Some(format!("a table with `{}`{rest}: {key}.{first} = …", names.join("`, `")));
    }
    fault
}

/// Keys of a table that are named, at most.
const TABLE_MAX: usize = 6;

/// With a hint: a snapshot where the name of a start state is expected, or a key that a policy takes and that stands beside
/// the policy instead of in its table.
fn hinted(fault: Fault) -> Fault {
    let file = fault.found.as_deref().filter(|found| found.trim_matches('`').ends_with(".fw"));
    if let (Some("run.precondition"), Some(file)) = (fault.place.key.as_deref(), file) {
        let help = format!("a file of `flashwatt age`: run.precondition.snapshot = \"{}\"", file.trim_matches('`'));
        return fault.help(help);
    }
    let key = fault.place.key.as_deref().and_then(|key| key.strip_prefix("gc.")).unwrap_or_default();
    let takes = |entry: &&gc::Policy| entry.params.iter().any(|param| param.name == key);
    match gc::REGISTRY.iter().find(takes) {
        Some(entry) => {
            let help = format!("a parameter of a policy stands in its table: [gc.policy.{}] {key} = …", entry.name);
            fault.help(help)
        }
        None => fault,
    }
}

/// Keys that are named for one without its table, at most.
const ELSEWHERE_MAX: usize = 4;

/// With the keys of the same name in other tables, if a key is unknown where it stands: `channels` is `device.channels`.
fn elsewhere(fault: Fault) -> Fault {
    let unknown = ["unknown key", "unknown name"].contains(&fault.what.as_str());
    let Some(key) = fault.place.key.as_deref().filter(|_| unknown) else { return fault };
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    // An unknown name stands for one of a table's kinds: `workload.requests` is a key of each of them.
    let of = if fault.what == "unknown name" { table } else { "" };
    let name = name.to_lowercase();
    let ends = |known: &str| {
        let elsewhere = !known.starts_with("run.precondition.") && known != key;
        elsewhere && known.starts_with(of) && known.rsplit('.').next() == Some(name.as_str())
    };
    let mut known: Vec<_> =
        schema::reference().into_iter().map(|known| known.key).filter(|known| ends(known)).collect();
    known.sort_by_key(|known| known.starts_with("workload."));
    match &known[..] {
        [] => fault,
        [only] => fault.nearest(Some(only.clone())),
        several => {
            let mut named: Vec<_> = several.iter().take(ELSEWHERE_MAX).map(String::as_str).collect();
            named.extend((several.len() > ELSEWHERE_MAX).then_some("…"));
            let help = format!("keys of this name are {}", named.join(", "));
            fault.help(help)
        }
    }
}

/// What is said of a key that must be there and is not.
const MISSING: &str = "missing";

/// In the order in which a reader meets them: the file by lines, then the overrides.
fn listed(mut faults: Vec<Fault>) -> Vec<Fault> {
    let said: Vec<String> =
        faults.iter().filter(|fault| fault.what != MISSING).filter_map(|fault| fault.place.key.clone()).collect();
    // A value that is wrong by itself was taken out before its key was looked for: the key is not missing.
    faults.retain(|fault| fault.what != MISSING || !said.iter().any(|key| fault.place.key.as_ref() == Some(key)));
    faults.sort_by_key(|fault| (fault.place.file.as_deref() == Some("--set"), fault.place.line));
    faults.dedup();
    if faults.len() >= FAULTS_MAX {
        faults.truncate(FAULTS_MAX);
        faults.push(Fault::at(Place::default(), "there may be more faults than are listed here"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::{load, merged};

    fn synthetic(workload: Workload) -> Synthetic {
        let Workload::Synthetic(synthetic) = workload else { panic!("not a model: {workload:?}") };
        synthetic
    }

    fn config(text: &str, sets: &[&str]) -> Config {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load(text, "test.toml", &sets).expect("a valid configuration")
    }

    #[test]
    fn a_number_with_a_unit_is_that_number_and_is_kept_as_that() {
        let quoted = r#"
            device = { preset = "tlc-nvme-1t", logical_bytes = "256GB", op_ratio = "7%", timing.read_ns = "61us" }
            controller.power_budget_w = "8500mW"
            energy.nand = { transfer_ma = "0.0125A", volts = "3300mV" }
            gc.policy.d_choices.d = "4"
            workload.uniform.request_bytes = [["4KiB", "70%"], ["64KiB", "30%"]]
            run = { measure.requests = "10k", warmup.seconds = "5ms" }
        "#;
        let plain = r#"
            device = { preset = "tlc-nvme-1t", logical_bytes = 256000000000, op_ratio = 0.07, timing.read_ns = 61000 }
            controller.power_budget_w = 8.5
            energy.nand = { transfer_ma = 12.5, volts = 3.3 }
            gc.policy.d_choices.d = 4
            workload.uniform.request_bytes = [[4096, 0.7], [65536, 0.3]]
            run = { measure.requests = 10000, warmup.seconds = 0.005 }
        "#;
        assert_eq!(config(quoted, &[]).sha256(), config(plain, &[]).sha256());
        assert_eq!(merged(quoted, "a.toml", &[]).expect("valid"), merged(plain, "a.toml", &[]).expect("valid"));
        let both = |value: &str| config("", &[&format!("write_buffer.bytes={value}")]).sha256();
        assert_eq!(both("1MiB"), both("1048576"));
        assert_ne!(both("1MB"), both("1048576"));
    }

    #[test]
    fn nothing_at_all_is_the_default_preset() {
        let default = config("", &[]);
        assert_eq!(default.ssd().device.preset.as_deref(), Some(DEFAULT_PRESET));
        assert_eq!(default, config("[device]\npreset = \"x25m\"\n", &[]));
        assert_eq!(default.run.seed, 1);
        assert_eq!(default.run.precondition, Precondition::Filled);
        let uniform = synthetic(default.workload.clone());
        assert_eq!((uniform.model.name, uniform.requests, uniform.read_fraction), ("uniform", 100_000, 0.0));
        assert_eq!(uniform.sizes, Sizes::all(4096));
        assert_eq!(uniform.arrivals, Arrivals::Closed { queue_depth: 32 });
        assert_eq!(uniform.range_bytes, default.logical_bytes());
    }

    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_the_preset() {
        let text = "[device]\nchannels = 4\nways = 4\n";
        let device = config(text, &["device.ways=8", "device.ways=1"]).ssd().device.clone();
        assert_eq!((device.channels, device.ways, device.planes), (4, 1, 2));
        assert_eq!(config(text, &["device.preset=limit"]).ssd().device.planes, 1);
    }

    #[test]
    fn overrides_take_words_numbers_and_lists() {
        let sets = ["workload.trace.path=/tmp/a b#c.csv", "workload.trace.devices=[0, 2]", "workload.trace.speed=2"];
        let Workload::Trace(trace) = config("", &sets).workload else { panic!("a trace was asked for") };
        assert_eq!(trace.paths[0].to_str(), Some("/tmp/a b#c.csv"));
        assert_eq!((trace.devices, trace.speed), (vec![0, 2], 2.0));
        assert_eq!(config("", &["energy.nand.transfer_ma=operation"]).ssd().energy.nand.transfer_ua, None);
        assert_eq!(config("", &["energy.nand.transfer_ma=7.5"]).ssd().energy.nand.transfer_ua, Some(7500));
        assert!(!config("", &["gc.preemptible=false"]).ssd().gc.preemptible);
    }

    #[test]
    fn a_whole_number_may_be_written_as_a_float() {
        assert_eq!(synthetic(config("", &["workload.uniform.requests=1e6"]).workload).requests, 1_000_000);
        assert_eq!(synthetic(config("", &["workload.uniform.request_bytes=1.024e3"]).workload).sizes, Sizes::all(1024));
    }

    #[test]
    fn equal_tags_merge_and_others_replace() {
        let text = "[device]\npreset = \"limit\"\n[workload.uniform]\nread_fraction = 0.5\n";
        let uniform = synthetic(config(text, &[]).workload);
        assert_eq!((uniform.requests, uniform.read_fraction), (1_000_000, 0.5), "the preset's count, the file's mix");
        assert_eq!(config(text, &["workload=uniform"]), config(text, &[]), "a name alone keeps what is below");
        let Workload::Trace(trace) = config(text, &["workload.trace.path=a"]).workload else { panic!() };
        assert_eq!(trace.paths[0].to_str(), Some("a"));
        let after = config("[run.precondition.uniform]\nrequests = 7\n", &["run.precondition=empty"]);
        assert_eq!(after.run.precondition, Precondition::Empty);
        let saved = config("[run.precondition.uniform]\nrequests = 7\n", &["run.precondition.snapshot=a/b.fw"]);
        assert_eq!(saved.run.precondition, Precondition::Snapshot("a/b.fw".into()));
        assert_eq!(saved.inputs(), [std::path::Path::new("a/b.fw")]);
        let Precondition::Workload(first) = config("", &["run.precondition=uniform"]).run.precondition else {
            panic!()
        };
        assert_eq!(*first, config("", &[]).workload);
    }

    #[test]
    fn a_name_and_an_empty_table_are_the_same() {
        for (name, table) in [("ftl=page", "[ftl.page]"), ("gc.policy=greedy", "[gc.policy.greedy]")] {
            assert_eq!(config("", &[name]), config(table, &[]));
        }
    }

    #[test]
    fn a_scheduler_on_the_command_line_keeps_parameters_of_its_own_and_drops_those_of_another() {
        let text = "[host.scheduler.deadline]\nfifo_batch = 4\n";
        let host = |text: &str, sets: &[&str]| config(text, sets).host.expect("a block layer");
        assert_eq!(host(text, &["host.scheduler=deadline"]), host(text, &[]));
        assert_eq!(host(text, &["host.scheduler=noop"]), host("", &["host.scheduler=noop"]));
        let other = ["host.scheduler.mq_deadline.fifo_batch=8"];
        assert_eq!(host(text, &other), host("", &other));
        let sets = ["host.scheduler.deadline.fifo_batch=8", other[0]].map(String::from);
        let error = load("", "test.toml", &sets).expect_err("two schedulers").to_string();
        assert!(error.contains("keys of `host.scheduler.deadline` and of `host.scheduler.mq_deadline`"), "{error}");
    }

    fn preset_is_a_disk(name: &str) -> bool {
        super::super::preset(name).is_some_and(|text| text.contains("[hdd."))
    }

    #[test]
    fn the_merged_text_is_the_same_configuration() {
        for (name, _) in PRESETS {
            let text = format!("device.preset = {name:?}\n[workload.uniform]\nrate_per_s = 10\n");
            let of_a_disk = ["hdd.interface.queue_depth=2", "hdd.energy.arm.seeking.v12_w=0.5"];
            let whole = load(&text, "test.toml", &[]).expect("a valid preset");
            let collects = whole.drive.ssd().is_some_and(|ssd| ssd.ftl.collects());
            let of_layer = if collects { "gc.policy.d_choices.d=3" } else { "ftl.superblock.merges_at_once=3" };
            let of_an_ssd = ["device.channels=2", of_layer, "device.op_ratio=0.5"];
            let some = if preset_is_a_disk(name) { &of_a_disk[..] } else { &of_an_ssd };
            for sets in [&[][..], some] {
                let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
                let merged = merged(&text, "test.toml", &sets).expect("a valid configuration");
                assert_eq!(config(&merged, &[]), load(&text, "test.toml", &sets).expect("the same"), "{merged}");
            }
        }
    }

    /// What a preset says of collection has no effect under layers that only merge; in the record it would be the user's, and refused.
    #[test]
    fn the_merged_text_is_the_same_configuration_with_every_layer() {
        let (mut texts, mut left_out) = (0, 0);
        for (preset, _) in PRESETS {
            for layer in flashwatt_ssd::ftl::REGISTRY {
                let sets = [format!("device.preset={preset}"), format!("ftl={}", layer.name)];
                let Ok(expected) = load("", "test.toml", &sets) else { continue };
                let merged = merged("", "test.toml", &sets).expect("it is valid");
                let again =
                    load(&merged, "config.toml", &[]).unwrap_or_else(|error| panic!("{sets:?}: {error}\n{merged}"));
                assert_eq!(again, expected, "{merged}");
                assert_eq!(again.sha256(), expected.sha256());
                texts += 1;
                left_out += u32::from(!merged.contains("low_watermark"));
            }
        }
        assert!(texts > PRESETS.len() * 5 && left_out > 0, "{texts} texts, {left_out} without watermarks");
        let set = ["ftl=block", "gc.policy=fifo"].map(String::from);
        let error = load("", "test.toml", &set).expect_err("the user's key has no effect").to_string();
        assert!(error.contains("gc.policy: has no effect"), "{error}");
    }

    #[test]
    fn keys_of_two_workloads_on_one_command_line_are_a_contradiction() {
        let sets = ["workload.trace.path=a", "workload.uniform.requests=5"].map(String::from);
        let error = load("", "test.toml", &sets).expect_err("two workloads").to_string();
        assert!(error.contains("keys of `workload.trace` and of `workload.uniform`"), "{error}");
        assert!(load("", "test.toml", &["gc.policy=fifo", "gc.policy.d_choices.d=3"].map(String::from)).is_ok());
    }

    #[test]
    fn a_parameter_beside_its_policy_is_told_where_it_belongs() {
        let error =
            load("[gc]\npolicy = \"d_choices\"\nd = 3\n", "test.toml", &[]).expect_err("no such key").to_string();
        assert!(error.contains("[gc.policy.d_choices] d = …"), "{error}");
    }

    #[test]
    fn a_warm_up_of_nothing_is_none() {
        assert_eq!(config("", &["run.warmup.requests=0", "run.warmup.seconds=0"]), config("", &[]));
        assert_eq!(config("", &["run.warmup.seconds=1e-12"]).run.warmup, Span::default(), "less than a nanosecond");
    }

    #[test]
    fn a_way_of_arriving_drops_the_one_below() {
        let text = "[workload.uniform]\nqueue_depth = 4\n";
        let arrivals = |sets: &[&str]| synthetic(config(text, sets).workload).arrivals;
        let open = |law, mean_ns, group| {
            Arrivals::Open(OpenLoop { gap: Gap { law, mean_ns }, group, phases: None, tick_ns: None })
        };
        assert_eq!(arrivals(&[]), Arrivals::Closed { queue_depth: 4 });
        let poisson = open(Law::Exponential, 1e8, Group::Fixed(1));
        assert_eq!(arrivals(&["workload.uniform.rate_per_s=10"]), poisson);
        let burst = ["workload.uniform.burst_requests=3", "workload.uniform.burst_gap_ns=1000"];
        assert_eq!(arrivals(&burst), open(Law::Constant, 1000.0, Group::Fixed(3)));
        let mean =
            ["workload.uniform.rate_per_s=10", "workload.uniform.burst_mean=4", "workload.uniform.gaps=constant"];
        assert_eq!(arrivals(&mean), open(Law::Constant, 4e8, Group::Geometric { mean: 4.0 }));
    }

    #[test]
    fn the_watermark_is_the_greater_of_both_and_the_later_layer_drops_the_other() {
        let energysim = "[device]\npreset = \"energysim\"\n";
        assert_eq!(config(energysim, &[]).ssd().gc.low_watermark_blocks, 52, "fewer than 5 % of 1024");
        assert_eq!(config(energysim, &["gc.low_watermark_blocks=4"]).ssd().gc.low_watermark_blocks, 4);
        let both = ["gc.low_watermark_blocks=60", "gc.low_watermark_fraction=0.05"];
        assert_eq!(config(energysim, &both).ssd().gc.low_watermark_blocks, 60);
    }

    #[test]
    fn one_key_of_the_capacity_gives_the_drive_a_user_expects() {
        let size = |sets: &[&str]| {
            let device = config("", sets).ssd().device.clone();
            (device.blocks_per_plane, device.logical_bytes, (device.op_ratio * 1000.0).round())
        };
        assert_eq!(size(&[]), (4096, 80_000_000_000, 74.0));
        assert_eq!(
            size(&["device.logical_bytes=40e9"]),
            (2048, 40_000_000_000, 74.0),
            "half the drive, the same share"
        );
        let (blocks, logical, op) = size(&["device.blocks_per_plane=2048"]);
        assert_eq!((blocks, logical / 1_000_000, op), (2048, 40_001, 74.0), "half the flash, the same share");
        assert_eq!(size(&["device.op_ratio=0.5"]), (5723, 80_000_000_000, 500.0), "more flash for the same drive");
        assert_eq!(size(&["device.spare_fraction=0.5"]), (7630, 80_000_000_000, 1000.0));
        let both = ["device.blocks_per_plane=4096", "device.logical_bytes=40e9"];
        assert_eq!(size(&both).0, 4096);
        assert_eq!(size(&["device.channels=5"]), (8192, 80_000_000_000, 74.0), "the same drive on fewer dies");
    }

    #[test]
    fn over_provisioning_of_a_fixed_flash_is_taken_from_the_host() {
        let energysim = config("", &["device.preset=energysim", "device.spare_fraction=0.5"]).ssd().device.clone();
        assert_eq!((energysim.blocks_per_plane, energysim.logical_bytes), (512, 4 << 30));
        assert_eq!((energysim.spare_fraction, energysim.op_ratio), (0.5, 1.0));
    }

    #[test]
    fn the_hash_depends_on_what_is_said_and_not_on_how() {
        let one = config("[device]\nchannels = 4\n[run]\nseed = 2\n", &[]);
        let other = config("run.seed = 2\n", &["device.channels=0x4", "device.preset=x25m"]);
        assert_eq!(one.sha256(), other.sha256());
        assert_ne!(one.sha256(), config("", &[]).sha256());
    }

    #[test]
    fn only_the_base_name_of_a_trace_is_hashed() {
        let at = |path: &str| config("", &[&format!("workload.trace.path={path}")]).sha256();
        assert_eq!(at("/here/a.csv"), at("/there/a.csv"));
    }
}
