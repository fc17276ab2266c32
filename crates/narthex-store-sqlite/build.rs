//! A new migration is a reason to build again; cargo does not see it by itself.

#![allow(clippy::print_stdout, reason = "this is how a build script speaks")]

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
