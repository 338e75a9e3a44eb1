//! Launches: kernels by name, lists on a stream, and how many threads.

use crate::layout::Address;
use cudarc::driver::{
    CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchConfig, PinnedHostSlice, ValidAsZeroBits,
};
use std::sync::Arc;

/// Threads of a block where everyone is alone.
pub const BLOCK: u32 = 256;
/// Blocks that share lists of any length, and their threads.
const SHARING: (u32, u32) = (528, 128);

/// The kernels of a part by name.
macro_rules! functions {
    ($($name:ident)*) => {
        struct Functions { $($name: cudarc::driver::CudaFunction,)* }

        impl Functions {
            fn new(module: &std::sync::Arc<cudarc::driver::CudaModule>) -> Result<Self, cudarc::driver::DriverError> {
                Ok(Self { $($name: module.load_function(stringify!($name))?,)* })
            }
        }
    };
}
pub(crate) use functions;

/// Lists that are made on a stream, and kept as long as kernels use them.
pub struct Room {
    pub stream: Arc<CudaStream>,
    pub kept: Vec<Box<dyn Send + Sync>>,
}

impl Room {
    /// A list with these numbers.
    pub fn filled<T: DeviceRepr + Send + Sync + 'static>(
        &self,
        list: &[T],
    ) -> Result<CudaSlice<T>, DriverError> {
        self.stream.clone_htod(list)
    }

    /// A list of zeros. None is empty, so that each has an address.
    pub fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, length: usize) -> Result<CudaSlice<T>, DriverError> {
        self.stream.alloc_zeros(length.max(1))
    }

    /// A list of zeros on the host that a card writes by itself. None is empty.
    pub fn pinned<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        length: usize,
    ) -> Result<PinnedHostSlice<T>, DriverError> {
        // SAFETY: all of it is written before anybody reads it.
        let mut list: PinnedHostSlice<T> =
            unsafe { self.stream.context().alloc_pinned_with_flags(length.max(1), 0) }?;
        // SAFETY: the list has so many, and no bit of a zero is set.
        unsafe { list.as_mut_ptr()?.write_bytes(0, list.len()) };
        Ok(list)
    }

    /// Where a list is.
    pub fn address<T>(&self, list: &CudaSlice<T>) -> Address {
        list.device_ptr(&self.stream).0
    }

    /// Keeps a list that only kernels use, and says where it is.
    pub fn keep<T: Send + Sync + 'static>(&mut self, list: CudaSlice<T>) -> Address {
        let address = self.address(&list);
        self.kept.push(Box::new(list));
        address
    }

    /// The same of a list with these numbers; nowhere if there are none.
    pub fn keep_filled<T: DeviceRepr + Send + Sync + 'static>(
        &mut self,
        list: &[T],
    ) -> Result<Address, DriverError> {
        if list.is_empty() {
            return Ok(0);
        }
        let list = self.filled(list)?;
        Ok(self.keep(list))
    }
}

/// A thread for each of so many.
pub fn for_each(count: i32) -> LaunchConfig {
    blocks_of((count as u32).div_ceil(BLOCK).max(1), BLOCK)
}

/// Threads that share a list whose length only the device knows.
pub fn sharing() -> LaunchConfig {
    blocks_of(SHARING.0, SHARING.1)
}

/// So many blocks of so many threads.
pub fn blocks_of(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}
