//! The smallest supervisor: what a plugin, a `cdylib` or a test ships beside itself, and names with
//! `Builder::supervisor`, when there is no `umbo` to name.

fn main() {
    // Never returns in a process that was started to supervise.
    umbo_engine::init();
}
