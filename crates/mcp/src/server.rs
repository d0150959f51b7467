//! One connection's server: what the protocol asks for, handed to whoever knows.
#![expect(deprecated, reason = "revisions before 2026-07-28 are told of ends by messages")]

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, GetTaskParams, GetTaskResult, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::answer::Catalogue;
use crate::caller::Seat;
use crate::hub::Hub;
use crate::invocation;
use crate::listener::{Ear, Listener};
use crate::misfit;
use crate::resources;

/// The revisions that are spoken here.
const REVISIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

pub(crate) struct Server {
    catalogue: Arc<Catalogue>,
    hub: Arc<Hub>,
    seat: Arc<Seat>,
    /// Who is told on the connection, once it wants to be.
    listener: OnceLock<Arc<Listener>>,
}

impl Server {
    pub(crate) fn new(catalogue: Arc<Catalogue>, hub: Arc<Hub>, seat: Arc<Seat>) -> Self {
        Self { catalogue, hub, seat, listener: OnceLock::new() }
    }

    /// The listener of this connection; from the first time on it is told what it wants to know.
    fn listener(&self, peer: &Peer<RoleServer>) -> Result<&Arc<Listener>, ErrorData> {
        let tools = Arc::clone(&self.seat.caller()?.tools);
        Ok(self.listener.get_or_init(|| {
            let listener = Listener::new(Arc::clone(&tools));
            self.hub.add(&listener, &tools);
            tokio::spawn(Arc::clone(&listener).deliver(Ear::Peer(peer.clone())));
            listener
        }))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.get() {
            listener.close();
        }
    }
}

impl ServerHandler for Server {
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
        self.seat.take()?;
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
        Err(misfit::refuse(&request, is_former))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.catalogue.tools.clone())
            .with_ttl_ms(resources::STATIC_TTL)
            .with_cache_scope(CacheScope::Public))
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
            let message = self.seat.caller()?.tools.unknown_tool(&request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        invocation::call(self.seat.caller()?, request, context).await
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
        resources::list(Arc::clone(&self.seat.caller()?.tools), cursor).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let tools = Arc::clone(&self.seat.caller()?.tools);
        Ok(ReadResourceResponse::Complete(resources::read(tools, request.uri).await?))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        resources::complete(Arc::clone(&self.seat.caller()?.tools), request).await
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
        let tools = Arc::clone(&self.seat.caller()?.tools);
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
        let tools = Arc::clone(&self.seat.caller().ok()?.tools);
        let mut accepted = SubscriptionFilter::new();
        accepted.resources_list_changed = requested.resources_list_changed;
        // What leads nowhere is left out, and the client sees that it is.
        accepted.resource_subscriptions = requested
            .resource_subscriptions
            .as_ref()
            .map(|uris| uris.iter().filter(|uri| tools.job_of(uri).is_ok()).cloned().collect());
        Some(accepted)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.seat.caller()?.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.seat.caller()?.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.seat.caller()?.tasks.cancel_task(&request.task_id)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let tools = Arc::clone(&self.seat.caller()?.tools);
        let listener = Listener::new(Arc::clone(&tools));
        if context.accepted().resources_list_changed == Some(true) {
            listener.want_list();
        }
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            let job = resources::job_of(Arc::clone(&tools), uri.clone()).await?;
            listener.subscribe(job, uri.clone());
        }
        self.hub.add(&listener, &tools);
        tokio::select! {
            () = listener.deliver(Ear::Sink(context.sink().clone())) => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}

/// Whether there is a connection on which the client can be told something it did not ask for.
fn has_connection(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|revision| revision < ProtocolVersion::V_2026_07_28)
}
