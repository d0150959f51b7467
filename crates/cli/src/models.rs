//! Which models there are here: the built-in table, the user's `models.toml`, and the usual variables
//! for keys and addresses. Nothing of it comes from a project.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;

use serde::Deserialize;
use serde_json::{Map, Value};
use toml_edit::{Document, Item};
use umbo_agent::Candidate;
use umbo_model::{
    Catalogue, ChatQuirks, ClientOptions, Effort, Endpoint, Model, ModelPrice, Secret,
    ThinkingStyle, WireFormat,
};

use crate::context::Context;
use crate::failure::Failure;

/// The file with the user's own models.
const FILE: &str = "models.toml";

/// What the user's file says.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Listed {
    providers: BTreeMap<String, Provider>,
    models: BTreeMap<String, ListedModel>,
}

/// Who serves models.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Provider {
    /// The wire format: `anthropic`, `openai`, `openai-chat` or `gemini`.
    api: String,
    /// Where.
    base_url: Option<String>,
    /// The variable that has the key.
    key_variable: Option<String>,
    /// Headers, each with the variable that has its value.
    #[serde(default)]
    header_variables: BTreeMap<String, String>,
    /// How its server deviates, for `openai-chat`.
    #[serde(default)]
    quirks: Option<ChatQuirks>,
}

/// What is known of a model.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ListedModel {
    window: Option<u64>,
    max_output: Option<u64>,
    thinking: Option<ThinkingStyle>,
    efforts: Option<Vec<Effort>>,
    images: Option<bool>,
    temperature: Option<bool>,
    quirks: Option<ChatQuirks>,
    price: Option<ModelPrice>,
}

/// The models that can be asked from here.
pub(crate) struct Models {
    pub(crate) catalogue: Catalogue,
    providers: BTreeMap<String, Provider>,
}

impl Models {
    /// Reads the tables.
    pub(crate) fn load() -> Result<Self, Failure> {
        let catalogue = Catalogue::built_in().map_err(Failure::new)?;
        let mut models = Self { catalogue, providers: vendors() };
        let Ok(file) = Context::configuration().map(|directory| directory.join(FILE)) else {
            return Ok(models);
        };
        let wrong =
            |what: &dyn std::fmt::Display| Failure::new(format!("{}: {what}", file.display()));
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(models),
            Err(error) => return Err(wrong(&error)),
        };
        let document = Document::parse(text).map_err(|error| wrong(&error))?;
        let listed: Listed =
            serde_json::from_value(json(document.as_item())).map_err(|error| wrong(&error))?;
        models.add(listed).map_err(|problem| wrong(&problem))?;
        Ok(models)
    }

    fn add(&mut self, listed: Listed) -> Result<(), String> {
        for (name, provider) in listed.providers {
            if WireFormat::from_word(&provider.api).is_none() {
                let words = WireFormat::ALL.map(WireFormat::word).join(", ");
                return Err(format!(
                    "providers.{name}.api: {:?} was given; accepted: {words}",
                    provider.api
                ));
            }
            self.providers.insert(name, provider);
        }
        for (name, row) in listed.models {
            let (mut model, price) = self.find(&name).map_err(|why| format!("models: {why}"))?;
            let price = row.price.or(price).unwrap_or_default();
            model.window = row.window.unwrap_or(model.window);
            model.max_output = row.max_output.unwrap_or(model.max_output).min(model.window);
            model.thinking = row.thinking.unwrap_or(model.thinking);
            model.efforts = row.efforts.unwrap_or(model.efforts);
            model.images = row.images.unwrap_or(model.images);
            model.temperature = row.temperature.unwrap_or(model.temperature);
            model.quirks = row.quirks.unwrap_or(model.quirks);
            self.catalogue.insert(model, price);
        }
        Ok(())
    }

    /// The model of a name.
    fn find(&self, name: &str) -> Result<(Model, Option<ModelPrice>), String> {
        if let Some(found) = self.catalogue.find(name) {
            return Ok(found);
        }
        let Some((provider, id)) = name.split_once('/').filter(|(_, id)| !id.is_empty()) else {
            return Err(format!(
                "{name:?} was given; accepted: VENDOR/NAME, as `umbo models` lists"
            ));
        };
        let Some(known) = self.providers.get(provider) else {
            let names: Vec<&str> = self.providers.keys().map(String::as_str).collect();
            return Err(format!(
                "{name:?} was given; accepted vendors: {} (more of them go into {FILE})",
                names.join(", ")
            ));
        };
        let api = WireFormat::from_word(&known.api).unwrap_or(WireFormat::Chat);
        let mut model = Model::new(api, provider, id);
        if let Some(quirks) = &known.quirks {
            model.quirks = quirks.clone();
        }
        Ok((model, None))
    }

    /// A model with where it is and the key to it.
    pub(crate) fn candidate(&self, name: &str) -> Result<Candidate, Failure> {
        let (model, price) = self.find(name).map_err(|why| Failure::invalid("--model", why))?;
        let endpoint = self.endpoint(&model)?;
        Ok(Candidate { model, endpoint, price })
    }

    fn endpoint(&self, model: &Model) -> Result<Endpoint, Failure> {
        let Some(provider) = self.providers.get(&model.provider) else {
            let what = format!("nobody serves {}/{}", model.provider, model.id);
            return Err(Failure::invalid("--model", what));
        };
        let (base, key) = addresses(&model.provider, provider);
        let key = key.iter().find_map(|name| variable(name));
        let (base_url, is_elsewhere) = match provider.base_url.clone().or_else(|| variable(base?)) {
            Some(url) => (url, true),
            None => (Endpoint::vendor_url(model.api).to_owned(), false),
        };
        if key.is_none() && !is_elsewhere {
            let names = addresses(&model.provider, provider).1.join(" or ");
            return Err(Failure::invalid(
                "--model",
                format!("{}/{} needs a key; set {names}", model.provider, model.id),
            ));
        }
        let headers = provider.header_variables.iter();
        let headers =
            headers.filter_map(|(name, from)| Some((name.clone(), Secret::new(variable(from)?))));
        Ok(Endpoint { base_url, key: key.map(Secret::new), headers: headers.collect() })
    }

    /// Whether there is a key for a model, or a server that may need none.
    pub(crate) fn is_reachable(&self, model: &Model) -> bool {
        self.endpoint(model).is_ok()
    }

    /// The model that is asked if nobody says which: of the first vendor that there is a key for.
    pub(crate) fn default_name() -> Result<&'static str, Failure> {
        let usual = [
            ("ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5"),
            ("OPENAI_API_KEY", "openai/gpt-5.5"),
            ("GEMINI_API_KEY", "gemini/gemini-3.5-flash"),
        ];
        let found = usual.iter().find(|(name, _)| variable(name).is_some());
        found.map(|(_, model)| *model).ok_or_else(|| {
            Failure::invalid(
                "--model",
                "there is no model; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or \
                 name one of a server of your own (`umbo config set agent.model VENDOR/NAME`)",
            )
        })
    }

    /// The clients' settings for a server: a proxy, unless it is on this machine.
    pub(crate) fn client_options(endpoint: &Endpoint) -> ClientOptions {
        let is_here = ["//localhost", "//127.", "//[::1]"]
            .iter()
            .any(|here| endpoint.base_url.contains(here));
        let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
        let proxy = names.iter().find_map(|name| variable(name)).filter(|_| !is_here);
        ClientOptions { proxy, ..ClientOptions::default() }
    }
}

/// The vendors that are known without a file.
fn vendors() -> BTreeMap<String, Provider> {
    let vendor = |format: WireFormat| {
        let api = format.word().to_owned();
        let provider = Provider {
            api: api.clone(),
            base_url: None,
            key_variable: None,
            header_variables: BTreeMap::new(),
            quirks: None,
        };
        (api, provider)
    };
    WireFormat::ALL.into_iter().map(vendor).collect()
}

/// The variables that say where a provider is, and what its key is.
fn addresses<'a>(name: &str, provider: &'a Provider) -> (Option<&'static str>, Vec<&'a str>) {
    if let Some(key) = &provider.key_variable {
        return (None, vec![key]);
    }
    match name {
        "anthropic" => (Some("ANTHROPIC_BASE_URL"), vec!["ANTHROPIC_API_KEY"]),
        "openai" | "openai-chat" => (Some("OPENAI_BASE_URL"), vec!["OPENAI_API_KEY"]),
        "gemini" => (Some("GEMINI_BASE_URL"), vec!["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
        _ => (None, Vec::new()),
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// A TOML item as JSON, for serde.
fn json(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let fields = table.iter().map(|(name, item)| (name.to_owned(), json(item)));
        return Value::Object(fields.collect::<Map<_, _>>());
    }
    match item {
        Item::Value(toml_edit::Value::Array(items)) => {
            items.iter().map(|value| json(&Item::Value(value.clone()))).collect()
        }
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| json(&Item::Table(table.clone()))).collect()
        }
        item => {
            let boolean = item.as_bool().map(Value::from);
            let integer = item.as_integer().map(Value::from);
            let float = item.as_float().map(Value::from);
            let text = item.as_str().map(Value::from);
            boolean.or(integer).or(float).or(text).unwrap_or_default()
        }
    }
}
