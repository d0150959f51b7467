//! Resources: what the tools' crate knows of them, said in the protocol's words.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, JsonObject,
    ListResourceTemplatesResult, ListResourcesResult, MetaObject, ReadResourceResult, Reference,
    Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;
use umbo_tools::Toolset;
use umbo_tools::resource::{MIME_TYPE, ResourceError, TEMPLATES};

/// How long what never changes while the server runs may be kept.
pub(crate) const STATIC_TTL: u64 = 3_600_000;

/// The caller's jobs.
pub(crate) async fn list(
    tools: Arc<Toolset>,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let list = blocking(move || tools.resources(cursor.as_deref())).await?;
    let resources = list.resources.into_iter().map(|resource| {
        Resource::new(resource.uri, resource.name)
            .with_description(resource.description)
            .with_mime_type(MIME_TYPE)
            .with_size(resource.size)
    });
    let mut result = ListResourcesResult::with_all_items(resources.collect());
    result.next_cursor = list.next;
    Ok(result)
}

pub(crate) fn templates() -> ListResourceTemplatesResult {
    let templates = TEMPLATES.iter().map(|template| {
        ResourceTemplate::new(template.uri, template.name)
            .with_description(template.description)
            .with_mime_type(MIME_TYPE)
    });
    ListResourceTemplatesResult::with_all_items(templates.collect())
        .with_ttl_ms(STATIC_TTL)
        .with_cache_scope(CacheScope::Public)
}

pub(crate) async fn read(
    tools: Arc<Toolset>,
    uri: String,
) -> Result<ReadResourceResult, ErrorData> {
    let asked = uri.clone();
    let read = blocking(move || tools.read_resource(&asked)).await?;
    let mut meta = JsonObject::new();
    meta.insert("umbo".to_owned(), read.about);
    let contents = ResourceContents::text(read.text, uri)
        .with_mime_type(MIME_TYPE)
        .with_meta(MetaObject(meta));
    Ok(ReadResourceResult::new(vec![contents]))
}

/// What could be filled into a template.
pub(crate) async fn complete(
    tools: Arc<Toolset>,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let Reference::Resource(template) = &request.r#ref else {
        return Err(ErrorData::invalid_params("there are no prompts here", None));
    };
    if !TEMPLATES.iter().any(|known| known.uri == template.uri) {
        let known: Vec<&str> = TEMPLATES.iter().map(|known| known.uri).collect();
        let message = format!("there is no {}; there are: {}", template.uri, known.join(" "));
        return Err(ErrorData::invalid_params(message, None));
    }
    let argument = request.argument;
    let values = blocking(move || tools.complete_resource(&argument.name, &argument.value)).await?;
    let info = CompletionInfo::with_all_values(values);
    info.map(CompleteResult::new).map_err(|why| ErrorData::internal_error(why, None))
}

/// The job whose output is at this address.
pub(crate) async fn job_of(tools: Arc<Toolset>, uri: String) -> Result<String, ErrorData> {
    blocking(move || tools.job_of(&uri)).await
}

/// Reading files may take long; the other calls do not wait for it.
async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, ResourceError> + Send + 'static,
) -> Result<T, ErrorData> {
    match tokio::task::spawn_blocking(read).await {
        Ok(result) => result.map_err(refused),
        Err(error) => Err(ErrorData::internal_error(format!("the reading broke: {error}"), None)),
    }
}

fn refused(error: ResourceError) -> ErrorData {
    let message = umbo_tools::visible(&error.to_string()).into_owned();
    match error {
        ResourceError::Unknown { uri, .. } => {
            let uri = umbo_tools::visible(&uri);
            ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
        }
        ResourceError::Invalid { field, .. } => {
            ErrorData::invalid_params(message, Some(json!({"field": field})))
        }
        _ => ErrorData::internal_error(message, None),
    }
}
