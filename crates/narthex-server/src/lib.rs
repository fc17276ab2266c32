//! The house put together: data directory, owner's desk and socket, HTTP mounts, health.
//!
//! [`DataDir`] is the one folder a house lives in, held by one process at a time. [`House`] is the
//! gate with its surfaces over a store. [`owner`] is everything an owner can ask for, the same
//! through the local socket and in the process itself. [`Door`] opens it to the network.
//!
//! It must never know: which database is behind the store, how a command line looks, rmcp.
//!
//! To add something an owner can do: a variant of [`owner::Request`], its answer in
//! [`owner::Reply`], and its function in the file of `owner/` that it belongs to.

mod code_rooms;
mod data_dir;
mod door;
mod follow;
mod graph_rooms;
mod house;
pub mod owner;
mod seal_keys;
mod server_request;
mod server_rooms;
mod socket;
mod stop_file;

pub use code_rooms::CodeConfig;
pub use data_dir::{DataDir, DataDirError, Held, Holder, Keys};
pub use door::{Door, DoorConfig, DoorError, ROUTES};
pub use follow::{FollowerStatus, Following, Watched};
pub use house::{House, HouseParts};
pub use socket::{OwnerClient, OwnerSocket};
pub use stop_file::StopFile;
