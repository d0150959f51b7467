//! Supervises jobs for the tests, whose own `main` belongs to the test harness.

fn main() {
    umbo_lash::init();
}
