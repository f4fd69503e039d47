//! The C and C++ libraries, with what a careful caller keeps from batch to batch.

use std::ptr;

/// The largest block in the LZ4 frames of Kafka's clients.
pub const LZ4_BLOCK: usize = 64 << 10;
/// The largest block in the Snappy frames of Kafka's clients.
pub const SNAPPY_BLOCK: usize = 32 << 10;

/// zlib, with a gzip frame around it.
pub struct Gzip {
    deflate: Box<libz_sys::z_stream>,
    inflate: Box<libz_sys::z_stream>,
}

impl Gzip {
    pub fn new(level: i32) -> Self {
        let (mut deflate, mut inflate) = (Box::new(stream()), Box::new(stream()));
        let (version, size) =
            (libz_sys::zlibVersion as unsafe extern "C" fn() -> _, size_of::<libz_sys::z_stream>() as i32);
        // SAFETY: both streams are zeroed as zlib asks for, and stay where they are.
        unsafe {
            let begun = libz_sys::deflateInit2_(&mut *deflate, level, 8, 31, 8, 0, version(), size);
            assert_eq!(begun, libz_sys::Z_OK);
            assert_eq!(libz_sys::inflateInit2_(&mut *inflate, 31, version(), size), libz_sys::Z_OK);
        }
        Self { deflate, inflate }
    }
    /// Compresses into `output`, which has to be large enough, and tells the length.
    pub fn compress(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        // SAFETY: the stream was begun, and both slices live until the call returns.
        unsafe {
            libz_sys::deflateReset(&mut *self.deflate);
            point(&mut self.deflate, input, output);
            assert_eq!(libz_sys::deflate(&mut *self.deflate, libz_sys::Z_FINISH), libz_sys::Z_STREAM_END);
        }
        self.deflate.total_out as usize
    }
    pub fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        // SAFETY: as above.
        unsafe {
            libz_sys::inflateReset(&mut *self.inflate);
            point(&mut self.inflate, input, output);
            assert_eq!(libz_sys::inflate(&mut *self.inflate, libz_sys::Z_FINISH), libz_sys::Z_STREAM_END);
        }
        self.inflate.total_out as usize
    }
}

extern "C" fn allocate(_: *mut libc::c_void, items: u32, size: u32) -> *mut libc::c_void {
    // SAFETY: plain calloc.
    unsafe { libc::calloc(items as usize, size as usize) }
}
extern "C" fn free(_: *mut libc::c_void, pointer: *mut libc::c_void) {
    // SAFETY: it came from `allocate`.
    unsafe { libc::free(pointer) }
}
fn stream() -> libz_sys::z_stream {
    libz_sys::z_stream {
        next_in: ptr::null_mut(),
        avail_in: 0,
        total_in: 0,
        next_out: ptr::null_mut(),
        avail_out: 0,
        total_out: 0,
        msg: ptr::null_mut(),
        state: ptr::null_mut(),
        zalloc: allocate,
        zfree: free,
        opaque: ptr::null_mut(),
        data_type: 0,
        adler: 0,
        reserved: 0,
    }
}
fn point(stream: &mut libz_sys::z_stream, input: &[u8], output: &mut [u8]) {
    stream.next_in = input.as_ptr().cast_mut();
    stream.avail_in = input.len() as u32;
    stream.next_out = output.as_mut_ptr();
    stream.avail_out = output.len() as u32;
}

/// liblz4, block by block, each with its length before it. `level` None is the fast compressor, else the high one's level.
pub fn lz4_compress(input: &[u8], output: &mut [u8], level: Option<i32>) -> usize {
    blocks(input, output, LZ4_BLOCK, |block, output| {
        let (from, to) = (block.as_ptr().cast(), output.as_mut_ptr().cast());
        let (length, room) = (block.len() as i32, output.len() as i32);
        // SAFETY: lengths are those of the slices.
        let written = unsafe {
            match level {
                None => lz4_sys::LZ4_compress_default(from, to, length, room),
                Some(level) => lz4_sys::LZ4_compress_HC(from, to, length, room, level),
            }
        };
        assert!(written > 0);
        written as usize
    })
}
pub fn lz4_decompress(input: &[u8], output: &mut [u8]) -> usize {
    unblock(input, output, |block, output| {
        let (length, room) = (block.len() as i32, output.len() as i32);
        // SAFETY: lengths are those of the slices.
        let written =
            unsafe { lz4_sys::LZ4_decompress_safe(block.as_ptr().cast(), output.as_mut_ptr().cast(), length, room) };
        assert!(written >= 0);
        written as usize
    })
}

/// Google's library, block by block.
pub fn snappy_compress(input: &[u8], output: &mut [u8]) -> usize {
    blocks(input, output, SNAPPY_BLOCK, |block, output| {
        let mut length = output.len();
        // SAFETY: lengths are those of the slices.
        let status = unsafe {
            snappy_src::snappy_compress(block.as_ptr().cast(), block.len(), output.as_mut_ptr().cast(), &mut length)
        };
        assert_eq!(status, snappy_src::snappy_status_SNAPPY_OK);
        length
    })
}
pub fn snappy_decompress(input: &[u8], output: &mut [u8]) -> usize {
    unblock(input, output, |block, output| {
        let mut length = output.len();
        // SAFETY: lengths are those of the slices.
        let status = unsafe {
            snappy_src::snappy_uncompress(block.as_ptr().cast(), block.len(), output.as_mut_ptr().cast(), &mut length)
        };
        assert_eq!(status, snappy_src::snappy_status_SNAPPY_OK);
        length
    })
}

fn blocks(input: &[u8], output: &mut [u8], size: usize, mut one: impl FnMut(&[u8], &mut [u8]) -> usize) -> usize {
    let mut at = 0;
    for block in input.chunks(size) {
        let length = one(block, &mut output[at + 4..]);
        output[at..at + 4].copy_from_slice(&(length as u32).to_le_bytes());
        at += 4 + length;
    }
    at
}
fn unblock(mut input: &[u8], output: &mut [u8], mut one: impl FnMut(&[u8], &mut [u8]) -> usize) -> usize {
    let mut at = 0;
    while let Some((length, rest)) = input.split_first_chunk::<4>() {
        let (block, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        at += one(block, &mut output[at..]);
        input = rest;
    }
    at
}

/// libzstd, with both contexts kept.
pub struct Zstd {
    compress: zstd_safe::CCtx<'static>,
    decompress: zstd_safe::DCtx<'static>,
    level: i32,
}
impl Zstd {
    pub fn new(level: i32) -> Self {
        Self { compress: zstd_safe::CCtx::create(), decompress: zstd_safe::DCtx::create(), level }
    }
    pub fn compress(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        self.compress.compress(output, input, self.level).expect("compresses")
    }
    pub fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        self.decompress.decompress(output, input).expect("sound")
    }
}
