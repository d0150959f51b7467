//! Which models there are: names, windows and prices as data.
//!
//! The table is a dated snapshot of the public one of models.dev (MIT licence, see `models.json`).
//! The caller adds and replaces entries; nothing here knows a model by its name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{Cost, Usage};
use crate::message::WireFormat;
use crate::request::{ChatQuirks, Effort, Model, ThinkingStyle};

const TABLE: &str = include_str!("models.json");

/// The day of the built-in table.
pub const SNAPSHOT_DATE: &str = "2026-07-02";

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the table of models cannot be read")]
pub struct CatalogueError(#[from] serde_json::Error);

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelPrice {
    /// Input that no cache has.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input that a cache has.
    pub cache_read: f64,
    /// Input that is put into a cache.
    pub cache_write: f64,
}

impl ModelPrice {
    /// What some tokens cost.
    #[expect(clippy::cast_precision_loss, reason = "nobody pays for 2^53 tokens")]
    pub fn cost(&self, usage: &Usage) -> Cost {
        let million = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let input = million(usage.input, self.input);
        let output = million(usage.output, self.output);
        let cache_read = million(usage.cache_read, self.cache_read);
        let cache_write = million(usage.cache_write, self.cache_write);
        let total = input + output + cache_read + cache_write;
        Cost { input, output, cache_read, cache_write, total }
    }
}

#[derive(Deserialize)]
struct Table {
    models: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    provider: String,
    id: String,
    window: u64,
    output: u64,
    thinking: ThinkingStyle,
    #[serde(default)]
    efforts: Vec<Effort>,
    images: bool,
    temperature: bool,
    price: ModelPrice,
}

/// The models that are known.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// By provider and name.
    models: BTreeMap<(String, String), (Model, ModelPrice)>,
}

impl Catalogue {
    /// Those of the built-in table.
    pub fn built_in() -> Result<Self, CatalogueError> {
        let table: Table = serde_json::from_str(TABLE)?;
        let mut catalogue = Self::default();
        for row in table.models {
            for api in apis(&row.provider) {
                let quirks = if *api == WireFormat::Chat {
                    ChatQuirks::openai()
                } else {
                    ChatQuirks::default()
                };
                let model = Model {
                    provider: api.word().to_owned(),
                    id: row.id.clone(),
                    api: *api,
                    window: row.window,
                    max_output: row.output,
                    thinking: row.thinking,
                    efforts: row.efforts.clone(),
                    images: row.images,
                    temperature: row.temperature,
                    quirks,
                };
                catalogue.insert(model, row.price);
            }
        }
        Ok(catalogue)
    }

    /// Adds a model, or replaces it.
    pub fn insert(&mut self, model: Model, price: ModelPrice) {
        self.models.insert((model.provider.clone(), model.id.clone()), (model, price));
    }

    /// The model with a name such as `anthropic/claude-sonnet-4-5`, and its price if it is known.
    /// A name that is not in the table is a model of that provider with usual limits; without a
    /// provider that is known there is none.
    pub fn find(&self, name: &str) -> Option<(Model, Option<ModelPrice>)> {
        let (provider, id) = name.split_once('/')?;
        if id.is_empty() {
            return None;
        }
        if let Some((model, price)) = self.models.get(&(provider.to_owned(), id.to_owned())) {
            return Some((model.clone(), Some(*price)));
        }
        WireFormat::from_word(provider).map(|api| (Model::new(api, provider, id), None))
    }

    /// All models with their prices, by provider and name.
    pub fn iter(&self) -> impl Iterator<Item = (&Model, &ModelPrice)> {
        self.models.values().map(|(model, price)| (model, price))
    }

    /// The price of a model, if it is known.
    pub fn price(&self, model: &Model) -> Option<ModelPrice> {
        self.models.get(&(model.provider.clone(), model.id.clone())).map(|(_, price)| *price)
    }
}

fn apis(provider: &str) -> &'static [WireFormat] {
    match provider {
        "anthropic" => &[WireFormat::Anthropic],
        "openai" => &[WireFormat::Responses, WireFormat::Chat],
        "google" => &[WireFormat::Gemini],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_read_and_its_numbers_make_sense() {
        let catalogue = Catalogue::built_in().unwrap();
        assert!(catalogue.iter().count() > 80);
        assert!(TABLE.contains(SNAPSHOT_DATE));
        for (model, price) in catalogue.iter() {
            assert!(model.max_output > 0 && model.max_output <= model.window, "{model:?}");
            assert!(price.cache_read <= price.input, "{model:?}");
        }
        for api in WireFormat::ALL {
            assert!(catalogue.iter().any(|(model, _)| model.api == api), "{api:?}");
        }
    }

    #[test]
    fn a_name_chooses_vendor_and_model_and_an_unknown_one_is_taken_at_its_word() {
        let mut catalogue = Catalogue::built_in().unwrap();
        let (model, price) = catalogue.find("anthropic/claude-sonnet-4-5").unwrap();
        assert_eq!(model.api, WireFormat::Anthropic);
        assert_eq!(price.map(|price| price.input), Some(3.0));
        let (model, price) = catalogue.find("openai-chat/qwen/qwen3:8b").unwrap();
        assert_eq!((model.api, model.id.as_str()), (WireFormat::Chat, "qwen/qwen3:8b"));
        assert_eq!(price, None);
        assert!(catalogue.find("nobody/model").is_none());
        assert!(catalogue.find("anthropic/").is_none());
        let mine = Model::new(WireFormat::Chat, "mine", "m");
        catalogue.insert(mine.clone(), ModelPrice::default());
        assert_eq!(catalogue.find("mine/m"), Some((mine, Some(ModelPrice::default()))));
    }

    #[test]
    fn a_cost_is_the_sum_of_four() {
        let price = ModelPrice { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 };
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 2_000_000,
            cache_write: 400_000,
            reasoning: 50_000,
            ..Usage::default()
        };
        assert!((price.cost(&usage).total - (3.0 + 1.5 + 0.6 + 1.5)).abs() < 1e-9);
    }
}
