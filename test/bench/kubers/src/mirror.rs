//! A reflector of ConfigMaps that tells what it sees, in the form of test/bench/mirror.
use std::collections::BTreeMap;

use anyhow::Result;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    runtime::{reflector, watcher, WatchStreamExt},
    Api, Client, ResourceExt,
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

fn value(object: &ConfigMap) -> String {
    let data = object.data.as_ref();
    data.and_then(|data| data.get("value")).cloned().unwrap_or_default()
}

fn print(kind: &str, object: &ConfigMap) {
    let version = object.resource_version().unwrap_or_default();
    println!("{}", json!({"event": kind, "name": object.name_any(), "version": version, "value": value(object)}));
}

fn print_store(store: &reflector::Store<ConfigMap>) {
    let objects: BTreeMap<String, [String; 2]> = store
        .state()
        .iter()
        .map(|object| (object.name_any(), [object.resource_version().unwrap_or_default(), value(object)]))
        .collect();
    println!("{}", json!({ "store": objects }));
}

pub async fn run(client: Client, streaming: bool) -> Result<()> {
    let (store, mut writer) = reflector::store::<ConfigMap>();
    // Pages of two, so that a list takes several requests.
    let config = match streaming {
        true => watcher::Config::default().streaming_lists(),
        false => watcher::Config::default().page_size(2),
    };
    let mut events = std::pin::pin!(watcher(Api::<ConfigMap>::namespaced(client, "default"), config).default_backoff());
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        tokio::select! {
            line = lines.next_line() => match line? {
                Some(_) => print_store(&store),
                None => std::process::exit(0),
            },
            event = events.next() => match event {
                Some(Ok(event)) => {
                    writer.apply_watcher_event(&event);
                    match &event {
                        watcher::Event::Init => println!("{}", json!({"event": "init"})),
                        watcher::Event::InitDone => println!("{}", json!({"event": "synced"})),
                        watcher::Event::InitApply(object) => print("init", object),
                        watcher::Event::Apply(object) => print("apply", object),
                        watcher::Event::Delete(object) => print("delete", object),
                    }
                }
                Some(Err(error)) => eprintln!("kubers-bench: {error}"),
                None => return Ok(()),
            },
        }
    }
}
