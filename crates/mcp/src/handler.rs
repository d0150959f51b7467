//! One connection: what the protocol asks for, handed to the module that knows.
#![expect(deprecated, reason = "revisions before 2026-07-28 are told of ends by messages")]

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams,
    CancelledNotificationParam, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult,
    GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use umbo_tools::Toolset;

use crate::answer::Catalogue;
use crate::bad_params;
use crate::caller::{Caller, CallerSlot};
use crate::cancellation::Cancellations;
use crate::client::{self, ClientOptions};
use crate::invocation;
use crate::listener::{self, Hub, Listener, Sink};
use crate::resources;

/// The revisions that are spoken here.
const REVISIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// Streams that were asked for and not opened yet, at most.
const MOST_BEGUN: usize = 64;

/// Answers one client. A program with a runtime and a transport of its own serves it with rmcp.
pub struct McpHandler {
    catalogue: Arc<Catalogue>,
    hub: Arc<Hub>,
    slot: Arc<CallerSlot>,
    /// The listener on the connection, once it wants to be notified.
    listener: OnceLock<Arc<Listener>>,
    /// Listeners on streams that are about to be acknowledged. They hear already: what happens between the
    /// acknowledgement and the stream would be lost.
    begun: Mutex<Vec<(SubscriptionFilter, Arc<Listener>)>>,
    options: ClientOptions,
    cancellations: Arc<Cancellations>,
}

impl McpHandler {
    /// The tools of one caller, for the client at the other end of one connection.
    pub fn new(tools: Toolset) -> Self {
        let catalogue = Arc::new(Catalogue::new(&tools));
        let slot = CallerSlot::filled(Caller::new(tools));
        Self::of(catalogue, Arc::default(), slot, ClientOptions::default())
    }

    /// The same, with other options.
    #[must_use]
    pub fn options(mut self, options: ClientOptions) -> Self {
        self.options = options;
        self
    }

    /// The caller, which whoever serves this ends when the client is gone.
    pub(crate) fn caller(&self) -> Result<Arc<Caller>, ErrorData> {
        self.slot.caller()
    }

    /// What calls need that do not come through here.
    pub(crate) fn parts(&self) -> (Arc<Catalogue>, Arc<Cancellations>, ClientOptions) {
        (Arc::clone(&self.catalogue), Arc::clone(&self.cancellations), self.options)
    }

    /// The client is gone: stops what its calls wait for, and what they left in the foreground.
    /// Blocks until that is done.
    pub fn close(&self) {
        if let Some(caller) = self.slot.owner() {
            caller.end();
        }
    }

    pub(crate) fn of(
        catalogue: Arc<Catalogue>,
        hub: Arc<Hub>,
        slot: Arc<CallerSlot>,
        options: ClientOptions,
    ) -> Self {
        let (listener, begun, cancellations) = (OnceLock::new(), Mutex::default(), Arc::default());
        Self { catalogue, hub, slot, listener, begun, options, cancellations }
    }

    /// The listener of this connection; from the first time on it is told what it wants to know.
    fn listener(&self, peer: &Peer<RoleServer>) -> Result<&Arc<Listener>, ErrorData> {
        let tools = Arc::clone(&self.slot.caller()?.tools);
        Ok(self.listener.get_or_init(|| {
            let listener = Listener::new(Arc::clone(&tools));
            listener::listen(&self.hub, &listener, &tools);
            tokio::spawn(Arc::clone(&listener).deliver(Sink::Peer(peer.clone())));
            listener
        }))
    }
}

impl Drop for McpHandler {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.get() {
            listener.close();
        }
    }
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_logging()
            .enable_completions()
            .enable_tasks();
        ServerConfig::new(capabilities.build())
            .with_server_info(Implementation::new("umbo", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.catalogue.instructions.as_str())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(REVISIONS.to_vec())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.slot.fill()?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let revision = context.protocol_version();
        let is_former = revision.is_none_or(|revision| revision < ProtocolVersion::V_2026_07_28);
        Err(bad_params::refuse(&request, is_former))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(request)?;
        Ok(ListToolsResult::with_all_items(
            self.catalogue.tools_for(client::of(&context, self.options)),
        )
        .with_ttl_ms(resources::STATIC_TTL)
        .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalogue.tool(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.catalogue.tool(&request.name).is_none() {
            let message = self.slot.caller()?.tools.unknown_tool(&request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let cancellation = self.cancellations.expect(context.id.clone());
        let how = (self.options, cancellation);
        // In a box: whoever runs it moves it several times, and it is large.
        Box::pin(invocation::call(self.slot.caller()?, request, context, how)).await
    }

    async fn on_cancelled(
        &self,
        cancelled: CancelledNotificationParam,
        _context: NotificationContext<RoleServer>,
    ) {
        self.cancellations.heard(cancelled);
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if has_connection(&context) {
            self.listener(&context.peer)?.want_list();
        }
        let cursor = request.and_then(|request| request.cursor);
        resources::list(Arc::clone(&self.slot.caller()?.tools), cursor).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        one_page(request)?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let tools = Arc::clone(&self.slot.caller()?.tools);
        Ok(ReadResourceResponse::Complete(resources::read(tools, request.uri).await?))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        resources::complete(Arc::clone(&self.slot.caller()?.tools), request).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        // There are none, and nothing said that there are.
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tools = Arc::clone(&self.slot.caller()?.tools);
        let job = resources::job_of(tools, request.uri.clone()).await?;
        self.listener(&context.peer)?.subscribe(job, request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let Some(listener) = self.listener.get() {
            listener.unsubscribe(&request.uri);
        }
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.listener(&context.peer)?.want_messages(request.level);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let tools = Arc::clone(&self.slot.caller().ok()?.tools);
        let listener = Listener::new(Arc::clone(&tools));
        let mut accepted = SubscriptionFilter::new();
        accepted.resources_list_changed = requested.resources_list_changed;
        if accepted.resources_list_changed == Some(true) {
            listener.want_list();
        }
        // What leads nowhere is left out, and the client sees that it is.
        let subscribe = |uri: &&String| {
            tools.job_of(uri).map(|job| listener.subscribe(job, (*uri).clone())).is_ok()
        };
        accepted.resource_subscriptions = requested
            .resource_subscriptions
            .as_ref()
            .map(|uris| uris.iter().filter(subscribe).cloned().collect());
        listener::listen(&self.hub, &listener, &tools);
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.push((requested.clone(), listener));
        if begun.len() > MOST_BEGUN {
            begun.remove(0);
        }
        Some(accepted)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.slot.caller()?.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.slot.caller()?.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.slot.caller()?.tasks.cancel_task(&request.task_id)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let begun = {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            let place = begun.iter().position(|(requested, _)| requested == context.requested());
            place.map(|place| begun.remove(place).1)
        };
        let Some(listener) = begun else {
            return Err(ErrorData::internal_error("too many streams were asked for at once", None));
        };
        tokio::select! {
            () = listener.deliver(Sink::Stream(context.sink().clone())) => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}

/// Refuses a cursor into a list that has one page.
fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(cursor) => {
            let message =
                format!("cursor: {cursor:?} was given; this list has one page: give none");
            Err(ErrorData::invalid_params(message, Some(json!({"field": "cursor"}))))
        }
    }
}

/// Whether there is a connection on which the client can be told something it did not ask for.
fn has_connection(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|revision| revision < ProtocolVersion::V_2026_07_28)
}

impl std::fmt::Debug for McpHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpHandler").finish_non_exhaustive()
    }
}
