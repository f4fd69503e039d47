//! Each codec beside its C library, over one batch of a megabyte.

use millstream_protocol::{Compression, Compressor, Decompressor};
use std::hint::black_box;
use versus_records::allocations::Counting;
use versus_records::{Contestant, RECORDS, c, contestant, payload, sealed};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

type Both = (Box<dyn FnMut(&[u8], &mut [u8]) -> usize>, Box<dyn FnMut(&[u8], &mut [u8]) -> usize>);

fn main() {
    let plain = sealed(&payload::values(RECORDS)).to_bytes(&millstream_protocol::record::Stamp::plain()).slice(61..);
    let mut races = vec![
        race(
            "gzip",
            &plain,
            theirs_gzip(&[6, 1, 3]),
            ours(Compression::Gzip, &[None, Some(1), Some(2), Some(3), Some(4), Some(6)]),
        ),
        race(
            "snappy",
            &plain,
            vec![("C++".into(), (Box::new(c::snappy_compress), Box::new(c::snappy_decompress)))],
            ours(Compression::Snappy, &[None]),
        ),
        race("lz4", &plain, theirs_lz4(), ours(Compression::Lz4, &[None])),
        race(
            "zstd",
            &plain,
            theirs_zstd(&[3, 1, 2, -1]),
            ours(Compression::Zstd, &[None, Some(-1), Some(1), Some(2), Some(3)]),
        ),
    ];
    let mut flat: Vec<_> = races.drain(..).flatten().collect();
    versus_records::main(&mut flat);
}

fn theirs_gzip(levels: &[i32]) -> Vec<(String, Both)> {
    let one = |level: &i32| {
        let (mut deflate, mut inflate) = (c::Gzip::new(*level), c::Gzip::new(*level));
        let both: Both = (
            Box::new(move |input, output| deflate.compress(input, output)),
            Box::new(move |input, output| inflate.decompress(input, output)),
        );
        (format!("C {level}"), both)
    };
    levels.iter().map(one).collect()
}
fn theirs_lz4() -> Vec<(String, Both)> {
    let one = |level: Option<i32>| -> Both {
        (Box::new(move |input, output| c::lz4_compress(input, output, level)), Box::new(c::lz4_decompress))
    };
    vec![("C".to_owned(), one(None)), ("C high 9".to_owned(), one(Some(9)))]
}
fn theirs_zstd(levels: &[i32]) -> Vec<(String, Both)> {
    let one = |level: &i32| {
        let (mut deflate, mut inflate) = (c::Zstd::new(*level), c::Zstd::new(*level));
        let both: Both = (
            Box::new(move |input, output| deflate.compress(input, output)),
            Box::new(move |input, output| inflate.decompress(input, output)),
        );
        (format!("C {level}"), both)
    };
    levels.iter().map(one).collect()
}

fn ours(codec: Compression, levels: &[Option<i32>]) -> Vec<(Compression, Option<i32>)> {
    levels.iter().map(|level| (codec, *level)).collect()
}

/// Two races: compressing, decompressing. The first contestant of each is the C library at Kafka's default level.
fn race<'a>(
    name: &str,
    plain: &'a [u8],
    theirs: Vec<(String, Both)>,
    ours: Vec<(Compression, Option<i32>)>,
) -> [(String, Vec<Contestant<'a>>); 2] {
    let (mut deflates, mut inflates) = (Vec::new(), Vec::new());
    for (label, (mut deflate, mut inflate)) in theirs {
        let (mut output, mut back) = (vec![0; plain.len() * 2], vec![0; plain.len()]);
        let length = deflate(plain, &mut output);
        let deflated = output[..length].to_vec();
        assert_eq!(inflate(&deflated, &mut back), plain.len());
        let label = format!("{label}, {:.1} bytes", length as f64 / RECORDS as f64);
        deflates.push(contestant(label.clone(), move || {
            black_box(deflate(plain, &mut output));
        }));
        inflates.push(contestant(label, move || {
            black_box(inflate(&deflated, &mut back));
        }));
    }
    for (codec, level) in ours {
        let mut compressor = Compressor::new(codec, level).expect("compiled in");
        let deflated = compressor.compress(plain).expect("compresses");
        let level = level.map_or_else(|| "default".to_owned(), |level| level.to_string());
        let label = format!("ours {level}, {:.1} bytes", deflated.len() as f64 / RECORDS as f64);
        deflates.push(contestant(label.clone(), move || {
            black_box(compressor.compress(plain).expect("compresses"));
        }));
        let mut decompressor = Decompressor::new();
        inflates.push(contestant(label, move || {
            black_box(decompressor.decompress(codec, &deflated).expect("sound"));
        }));
    }
    [(format!("{name}, compressing"), deflates), (format!("{name}, decompressing"), inflates)]
}
