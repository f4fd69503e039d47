//! Classic consumer groups.

mod assignment;
pub mod assignor;
mod subscription;
mod wire;

pub use assignment::Assignment;
pub use subscription::Subscription;
pub use wire::WireError;
