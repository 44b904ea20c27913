//! Records survive writing and reading; damage is reported and counted.

use super::*;
use flashwatt_base::rng::Rng;

fn written(records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).expect("writing to memory");
    for record in records {
        writer.record(record).expect("writing to memory");
    }
    writer.finish().expect("writing to memory")
}

/// The records that are read, and the records that are said to be lost.
fn read(content: &[u8]) -> (Vec<Record>, u64, u64) {
    let input = Input::new(Box::new(std::io::Cursor::new(content.to_vec())), "t").expect("reading memory");
    let mut decoder = Binary::new(input);
    let (mut records, mut faults, mut lost) = (Vec::new(), 0, 0);
    loop {
        match decoder.next() {
            Ok(Some(record)) => records.push(record),
            Ok(None) => return (records, faults, lost),
            Err(Halt::Bad(bad)) => (faults, lost) = (faults + 1, lost + bad.records),
            Err(Halt::Pause) => {}
            Err(Halt::Stop(_)) => return (records, faults + 1, lost),
        }
    }
}

fn random(count: usize) -> Vec<Record> {
    let mut rng = Rng::new(7);
    let record = |_| {
        let any = |rng: &mut Rng, bits| rng.bits() >> (64 - 1 - rng.below(bits));
        let (time_ns, device) = (any(&mut rng, 63), any(&mut rng, 63));
        let process =
            if rng.below(4) == 0 { Process::NONE } else { Process::new(any(&mut rng, 31)).unwrap_or(Process::NONE) };
        match KINDS[rng.below(4) as usize] {
            RequestKind::Flush => Record { process, ..Record::flush(time_ns, device) },
            kind => {
                let sector = if rng.below(2) == 0 { SECTOR_BYTES } else { 1 };
                let offset_bytes = any(&mut rng, 52) * sector;
                let bytes = (1 + rng.below(1 << 20)) * sector;
                let fua = rng.below(2) == 0;
                Record { fua, process, ..Record::new(time_ns, device, offset_bytes, bytes, kind) }
            }
        }
    };
    (0..count).map(record).collect()
}

/// As a drive sees them: one device, times that rise, runs of sequential 4-KiB requests.
fn usual(count: u64) -> Vec<Record> {
    let record = |i: u64| {
        let offset_bytes = (i / 4 * 7919 % 100_000 + i % 4) * 4096;
        Record::new(i * 26_214, 3, offset_bytes, 4096, KINDS[(i % 2) as usize])
    };
    (0..count).map(record).collect()
}

#[test]
fn what_is_written_is_read() {
    for count in [0, 1, 4095, 4096, 4097, 20_000] {
        let records = random(count);
        assert_eq!(read(&written(&records)), (records, 0, 0));
    }
    assert_eq!(read(&written(&usual(50_000))).0, usual(50_000));
}

#[test]
fn it_is_compact() {
    let bytes = written(&usual(100_000)).len() as f64 / 1e5;
    assert!(bytes < 7.0, "{bytes} bytes to a record");
}

#[test]
fn the_example_is_what_the_writer_writes() {
    let request = |time_ns, device, offset_bytes, bytes, kind, fua| Record {
        fua,
        ..Record::new(time_ns, device, offset_bytes, bytes, kind)
    };
    let records = [
        request(1_000, 0, 4096, 4096, RequestKind::Read, false),
        request(1_500, 0, 8192, 4096, RequestKind::Write, true),
        Record::flush(1_600, 0),
        request(2_000, 5, 1001, 65_535, RequestKind::Trim, false),
    ];
    assert_eq!(FORMAT.example.escape_ascii().to_string(), written(&records).escape_ascii().to_string());
    assert_eq!(read(FORMAT.example), (records.to_vec(), 0, 0));
}

/// The example as version 1 wrote it: the same blocks behind another version and its checksum.
#[test]
fn version_1_is_read_and_has_no_processes() {
    let first = |blocks: &[u8]| [b"\x89FWT\r\n\x1a\n\x01\x00\x00\x00_\xd9\x04\xa3".as_slice(), blocks].concat();
    assert_eq!(read(&first(&FORMAT.example[FILE_HEADER_BYTES..])), read(FORMAT.example));
    let named = Record { process: Process::new(7).expect("a number"), ..Record::flush(5, 0) };
    let content = written(&[named]);
    assert_eq!(read(&content), (vec![named], 0, 0));
    assert_eq!(read(&first(&content[FILE_HEADER_BYTES..])).0, [], "bit 6 is reserved in version 1");
}

#[test]
fn a_damaged_block_costs_its_own_records_only() {
    let (records, content) = (usual(12_000), written(&usual(12_000)));
    let starts: Vec<_> = memchr::memmem::find_iter(&content, BLOCK_MAGIC).collect();
    assert_eq!(starts.len(), 4, "three blocks and the end");
    let without = |from: usize, to: usize| [&records[..from], &records[to..]].concat();
    for at in [starts[1] + 2, starts[1] + 20, starts[1] + 29, starts[1] + 100] {
        let mut damaged = content.clone();
        damaged[at] ^= 0x10;
        assert_eq!(read(&damaged), (without(4096, 8192), 1, 4096), "byte {at}");
    }
    let cut_out = [&content[..starts[1]], &content[starts[2]..]].concat();
    assert_eq!(read(&cut_out), (without(4096, 8192), 1, 4096));
    let one_byte_less = [&content[..starts[1] + 200], &content[starts[1] + 201..]].concat();
    assert_eq!(read(&one_byte_less), (without(4096, 8192), 1, 4096));
}

#[test]
fn an_end_that_is_missing_or_not_the_end_is_told() {
    let (records, content) = (usual(5000), written(&usual(5000)));
    let whole = content.len();
    assert_eq!(read(&content[..whole - 32]), (records.clone(), 1, 1));
    assert_eq!(read(&content[..whole - 33]), (records[..4096].to_vec(), 2, 904 + 1));
    assert_eq!(read(&[&content[..], b"x"].concat()), (records, 1, 0));
    assert_eq!(read(&content[..7]), (Vec::new(), 1, 1));
}

#[test]
fn other_versions_are_refused() {
    let mut content = FORMAT.example.to_vec();
    content[8] = 3;
    let crc = crc32fast::hash(&content[..12]).to_le_bytes();
    content[12..16].copy_from_slice(&crc);
    let input = Input::new(Box::new(std::io::Cursor::new(content)), "t").expect("reading memory");
    let Err(Halt::Stop(error)) = Binary::new(input).next() else { panic!("refused") };
    let expected = "t: a binary trace of another version; found version 3, flags 0; expected version 1 or 2, flags 0";
    assert_eq!(error.to_string(), expected);
}

/// Under any damage no record comes twice or altered, and missing records are reported.
#[test]
fn no_damage_is_silent() {
    let (records, content) = (usual(9000), written(&usual(9000)));
    let mut rng = Rng::new(1);
    for round in 0..500 {
        let mut damaged = content.clone();
        for _ in 0..=rng.below(3) {
            let at = rng.below(damaged.len() as u64) as usize;
            match rng.below(4) {
                0 => drop(damaged.remove(at)),
                1 => damaged.insert(at, rng.bits() as u8),
                2 if round % 8 == 0 => damaged.truncate(at + 1),
                _ => damaged[at] ^= 1 << rng.below(8),
            }
        }
        let (found, faults, lost) = read(&damaged);
        let mut rest = records.iter();
        assert!(found.iter().all(|record| rest.any(|known| known == record)), "{round}: altered or out of order");
        assert!(faults > 0 || found.len() == records.len(), "{round}: silent");
        assert!(found.len() as u64 + lost <= 9001, "{round}: {lost} lost and {} found", found.len());
    }
}
