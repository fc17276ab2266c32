//! Who is knocking (threats, family C; section 5): credentials, their end, and how fast.

mod bearer;
mod limits;
mod tokens;
mod verifier;
