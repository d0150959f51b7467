//! Links the program at a fixed address: one at any address is moved there by the loader each time it starts,
//! which takes longer than most commands do. And where that helps, with the functions of a start and of a call
//! beside each other (`first.ld`, which `cargo xtask order` writes).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=first.ld");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_linux = variable("CARGO_CFG_TARGET_OS") == "linux";
    if is_linux && variable("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        // Another linker than the compiler's own may not know such scripts.
        let is_usual = std::env::var_os("RUSTC_LINKER").is_none()
            && !["linker", "fuse-ld"]
                .iter()
                .any(|word| variable("CARGO_ENCODED_RUSTFLAGS").contains(word));
        if is_usual && variable("PROFILE") == "release" {
            println!("cargo::rustc-link-arg-bins=-T{}/first.ld", variable("CARGO_MANIFEST_DIR"));
        }
    }
}
