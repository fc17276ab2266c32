//! The scripted server does what its script says: driven raw, over pipes and over HTTP.

mod attacks;
mod chaos;
mod client;
mod echo;
mod http;
mod machine;
mod peer;
mod pipes;
mod turns;
