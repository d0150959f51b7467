//! From the words about a sandbox to a plan for it.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use umbo_engine::sandbox::{Plan, Policy, Profile, Surroundings};

use crate::args::Sandbox;
use crate::context::Context;
use crate::failure::Failure;

/// The plan that the words mean for a command in `directory`; none for no sandbox.
pub(crate) fn plan(
    context: &Context,
    words: &Sandbox,
    directory: &Path,
) -> Result<Option<Plan>, Failure> {
    let Some(name) = &words.profile else { return Ok(None) };
    let profile: Profile = name.parse().map_err(Failure::new)?;
    let around = surroundings(context, directory)?;
    let Some(mut policy) = Policy::of(profile, &around).map_err(Failure::new)? else {
        return Ok(None);
    };
    for path in &words.allow_write {
        policy.allow_write(&directory.join(path)).map_err(Failure::new)?;
    }
    for path in &words.allow_read {
        policy.allow_read(&directory.join(path)).map_err(Failure::new)?;
    }
    for host in &words.allow_host {
        policy.allow_host(host).map_err(Failure::new)?;
    }
    policy.plan().map(Some).map_err(Failure::new)
}

fn surroundings(context: &Context, directory: &Path) -> Result<Surroundings, Failure> {
    let home = Context::home();
    let project = project(directory, home.as_deref());
    let state = context.state.clone();
    let mut hasher = DefaultHasher::new();
    project.hash(&mut hasher);
    // The commands of one project share what they put there, and nobody else does.
    let temporary = state.join("tmp").join(format!("{:016x}", hasher.finish()));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&temporary)
        .map_err(|error| Failure::new(format!("cannot make {}: {error}", temporary.display())))?;
    // As open as any /tmp for whoever the job becomes; the state above it is its owner's alone.
    let _ = fs::set_permissions(&temporary, fs::Permissions::from_mode(0o1777));
    let own = [Some(state), Context::config_directory()].into_iter().flatten().collect();
    let search_path = std::env::split_paths(&Context::search_path()).collect();
    Ok(Surroundings { project, home, own, temporary: Some(temporary), search_path })
}

/// The nearest directory above that is a repository or has settings of umbo; else the directory itself.
fn project(directory: &Path, home: Option<&Path>) -> PathBuf {
    let is_project = |path: &&Path| {
        let is_home = home.is_some_and(|home| home.starts_with(path));
        !is_home && (path.join(".git").exists() || path.join(".umbo").exists())
    };
    directory.ancestors().find(is_project).unwrap_or(directory).to_owned()
}
