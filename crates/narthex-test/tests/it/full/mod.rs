//! The gate in full: approvals, taint, budgets, the kill switch, and that nothing of it is shed.

mod approvals;
mod budgets;
mod laundering;
mod sessions;
mod stops;
mod taint;
mod tiers;
mod values;
mod waits;
mod weights;
mod workshop;
