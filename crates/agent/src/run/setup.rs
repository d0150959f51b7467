//! How an agent works: its models, its limits, what it is told.

use std::time::Duration;

use umbo_model::{CacheLife, Client, Effort, Endpoint, Model, ModelPrice, RetryPolicy};

use super::Mask;
use crate::compact;

/// A model, where it is, and what it costs.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The model.
    pub model: Model,
    /// Where it is served.
    pub endpoint: Endpoint,
    /// What it costs, if that is known.
    pub price: Option<ModelPrice>,
}

/// When a run ends before its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The most answers of the model.
    pub turns: Option<u32>,
    /// The most tokens, read and written.
    pub tokens: Option<u64>,
    /// The most dollars.
    pub cost: Option<f64>,
    /// The longest time.
    pub time: Option<Duration>,
}

/// How an agent works. [`Setup::new`] has what is usual.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Sends the requests.
    pub client: Client,
    /// The model, and those that are asked if it cannot answer.
    pub candidates: Vec<Candidate>,
    /// A model with a larger window, for when the conversation does not fit.
    pub promotion: Option<Candidate>,
    /// What the model is told before all else.
    pub system: String,
    /// How much it shall think.
    pub effort: Option<Effort>,
    /// How long vendors shall keep the conversation.
    pub cache: CacheLife,
    /// When to ask again.
    pub retry: RetryPolicy,
    /// When to end.
    pub limits: Limits,
    /// When to summarise.
    pub compaction: compact::Settings,
    /// Whether the agent waits for work in the background when it has nothing else to do.
    pub wait_for_jobs: bool,
    /// Hides secrets in all that is sent to a model.
    pub mask: Option<Mask>,
}

impl Setup {
    /// A model with what is usual: asked again where that helps, no limits, the beginning summarised
    /// before the window is full, and no secrets hidden.
    pub fn new(client: Client, candidate: Candidate) -> Self {
        Self {
            client,
            candidates: vec![candidate],
            promotion: None,
            system: String::new(),
            effort: None,
            cache: CacheLife::Short,
            retry: RetryPolicy::default(),
            limits: Limits::default(),
            compaction: compact::Settings::default(),
            wait_for_jobs: true,
            mask: None,
        }
    }
}
