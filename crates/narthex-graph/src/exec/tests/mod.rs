//! Tests of carrying queries out.

mod bounds;
mod naive;
mod people;
mod queries;
mod random;
mod world;
mod writes;
