//! Links the program at a fixed address: one at any address is moved there by the loader each time it starts,
//! which takes longer than most commands do.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_linux = variable("CARGO_CFG_TARGET_OS") == "linux";
    if is_linux && variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
