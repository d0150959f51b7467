//! Links the program at a fixed address: one at any address is moved there by the loader each time it starts,
//! which takes longer than most commands do. And where that helps, with the functions of a start and of a call
//! beside each other (`first.ld`, which `cargo xtask order` writes). The compiler's own library is put into the
//! program, where it can be: to load one more takes a tenth of what a short command does.

use std::path::Path;
use std::process::Command;

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
        let is_static = variable("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
        if is_usual && !is_static && has_static_unwinder() {
            // Found before the shared library of the same name.
            let place = variable("OUT_DIR");
            let script = Path::new(&place).join("libgcc_s.so");
            if std::fs::write(script, "GROUP ( -lgcc_eh -lgcc )\n").is_ok() {
                println!("cargo::rustc-link-arg-bins=-L{place}");
            }
        }
    }
}

/// Whether the compiler has what unwinds as a static library.
fn has_static_unwinder() -> bool {
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    // It answers with the name alone if it has none.
    asked
        .is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_absolute())
}
