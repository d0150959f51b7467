//! How many words name what a command does, for rules that generalise.
//!
//! "Always allow `git checkout main`" should mean `git checkout`, not `git` and not that one branch. The
//! table says how many leading words carry the meaning; options and operands after them vary.

/// Programs with the number of words that name their task. Longer entries win.
const ARITY: &[(&str, usize)] = &[
    ("git", 2),
    ("git remote", 3),
    ("git stash", 3),
    ("git worktree", 3),
    ("git submodule", 3),
    ("git bisect", 3),
    ("git notes", 3),
    ("git config", 2),
    ("git lfs", 3),
    ("git sparse-checkout", 3),
    ("git reflog", 2),
    ("git bundle", 3),
    ("gh", 3),
    ("gh api", 2),
    ("gh status", 2),
    ("gh browse", 2),
    ("glab", 3),
    ("cargo", 2),
    ("cargo nextest", 3),
    ("cargo run", 2),
    ("cargo xtask", 3),
    ("cargo insta", 3),
    ("rustup", 2),
    ("rustup toolchain", 3),
    ("rustup component", 3),
    ("rustup target", 3),
    ("npm", 2),
    ("npm run", 3),
    ("npm run-script", 3),
    ("npm exec", 3),
    ("npm config", 3),
    ("npm audit", 2),
    ("pnpm", 2),
    ("pnpm run", 3),
    ("pnpm exec", 3),
    ("pnpm dlx", 3),
    ("yarn", 2),
    ("yarn run", 3),
    ("yarn workspace", 4),
    ("bun", 2),
    ("bun run", 3),
    ("bun x", 3),
    ("npx", 2),
    ("bunx", 2),
    ("pnpx", 2),
    ("pip", 2),
    ("pip3", 2),
    ("pip config", 3),
    ("uv", 2),
    ("uv pip", 3),
    ("uv run", 3),
    ("uv tool", 3),
    ("uv python", 3),
    ("uvx", 2),
    ("poetry", 2),
    ("poetry run", 3),
    ("poetry env", 3),
    ("pipenv", 2),
    ("pipenv run", 3),
    ("pdm", 2),
    ("pdm run", 3),
    ("hatch", 2),
    ("pipx", 2),
    ("go", 2),
    ("go mod", 3),
    ("go tool", 3),
    ("go work", 3),
    ("make", 2),
    ("just", 2),
    ("task", 2),
    ("rake", 2),
    ("mvn", 2),
    ("gradle", 2),
    ("./gradlew", 2),
    ("dotnet", 2),
    ("mix", 2),
    ("docker", 2),
    ("docker compose", 3),
    ("docker container", 3),
    ("docker image", 3),
    ("docker network", 3),
    ("docker volume", 3),
    ("docker system", 3),
    ("docker buildx", 3),
    ("docker context", 3),
    ("docker-compose", 2),
    ("podman", 2),
    ("kubectl", 2),
    ("kubectl config", 3),
    ("kubectl rollout", 3),
    ("kubectl auth", 3),
    ("kubectl set", 3),
    ("kubectl create", 3),
    ("helm", 2),
    ("helm repo", 3),
    ("helm get", 3),
    ("terraform", 2),
    ("terraform state", 3),
    ("terraform workspace", 3),
    ("tofu", 2),
    ("pulumi", 2),
    ("aws", 3),
    ("gcloud", 3),
    ("gcloud compute", 4),
    ("gcloud container", 4),
    ("az", 3),
    ("systemctl", 2),
    ("service", 3),
    ("launchctl", 2),
    ("brew", 2),
    ("brew services", 3),
    ("apt", 2),
    ("apt-get", 2),
    ("apt-cache", 2),
    ("dnf", 2),
    ("yum", 2),
    ("apk", 2),
    ("snap", 2),
    ("flatpak", 2),
    ("gem", 2),
    ("bundle", 2),
    ("bundle exec", 3),
    ("composer", 2),
    ("rails", 2),
    ("php artisan", 3),
    ("python -m", 3),
    ("python3 -m", 3),
    ("node --test", 2),
    ("deno", 2),
    ("ruff", 2),
    ("ip", 2),
    ("openssl", 2),
    ("redis-cli", 2),
    ("nix", 2),
    ("asdf", 2),
    ("mise", 2),
    ("conda", 2),
    ("vercel", 2),
    ("netlify", 2),
    ("fly", 2),
    ("flyctl", 2),
    ("heroku", 2),
    ("firebase", 2),
    ("supabase", 2),
    ("turbo", 2),
    ("turbo run", 3),
    ("nx", 2),
    ("nx run", 3),
    ("vite", 2),
    ("prisma", 2),
    ("ollama", 2),
];

/// The number of leading words that name what the command does.
pub fn arity(argv: &[&str]) -> usize {
    let plain = |count: usize| argv.get(..count).map(|words| words.join(" "));
    (1..=2)
        .rev()
        .filter_map(plain)
        .find_map(|name| ARITY.iter().find(|(entry, _)| *entry == name).map(|(_, arity)| *arity))
        .unwrap_or(1)
}

/// The leading words of a command that an "always allow" should remember. It stops at the first
/// option, so a prefix never swallows one by accident.
///
/// ```
/// assert_eq!(umbo_command::prefix(&["git", "checkout", "main"]), ["git", "checkout"]);
/// assert_eq!(umbo_command::prefix(&["npm", "run", "test", "--", "-w"]), ["npm", "run", "test"]);
/// assert_eq!(umbo_command::prefix(&["ls", "-la"]), ["ls"]);
/// ```
pub fn prefix<S: AsRef<str>>(argv: &[S]) -> Vec<String> {
    let words: Vec<&str> = argv.iter().map(AsRef::as_ref).collect();
    let count = arity(&words).min(words.len());
    let module = words.get(1) == Some(&"-m");
    words
        .iter()
        .enumerate()
        .take(count)
        .take_while(|(index, word)| *index == 0 || module || !word.starts_with('-'))
        .map(|(_, word)| (*word).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn a_prefix_names_the_task_and_not_its_operands() {
        assert_eq!(prefix(&["git", "remote", "add", "x", "y"]), ["git", "remote", "add"]);
        assert_eq!(prefix(&["python3", "-m", "pytest", "-q"]), ["python3", "-m", "pytest"]);
        assert_eq!(prefix(&["git", "-C", "x", "push"]), ["git"]);
        assert_eq!(prefix(&["cat", "a", "b"]), ["cat"]);
        assert_eq!(prefix::<&str>(&[]), Vec::<String>::new());
    }
}
