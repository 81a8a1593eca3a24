//! kubers-bench: with kube-rs what `kubexx-bench sync` and `watch` do; prints the same fields. `mirror` is for tests.
mod mirror;

use std::time::Instant;

use anyhow::{bail, Context, Result};
use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{reflector, reflector::ObjectRef, watcher, WatchStreamExt},
    Api, Client, Config,
};

const USAGE: &str = "kubers-bench sync|watch --kubeconfig FILE [--streaming] [--events N] [--lead N]
       kubers-bench mirror --kubeconfig FILE [--streaming]

  sync   fills a reflector's store with all pods
  watch  the same, then takes N updates and reads the old and the new object of each
  mirror prints each event of the ConfigMaps of the namespace default, and the reflector's store for each line of input";

struct Options {
    command: String,
    kubeconfig: String,
    streaming: bool,
    events: u64,
    lead: u64,
}

fn options() -> Result<Options> {
    let mut args = std::env::args().skip(1);
    let mut o = Options {
        command: args.next().context(USAGE)?,
        kubeconfig: std::env::var("KUBECONFIG").unwrap_or_default(),
        streaming: false,
        events: 100_000,
        lead: 1_000,
    };
    if !["sync", "watch", "mirror"].contains(&o.command.as_str()) {
        bail!(USAGE);
    }
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--streaming" => o.streaming = true,
            "--kubeconfig" => o.kubeconfig = args.next().context(USAGE)?,
            "--events" => o.events = args.next().context(USAGE)?.parse()?,
            "--lead" => o.lead = args.next().context(USAGE)?.parse()?,
            _ => bail!("unknown argument {arg}\n{USAGE}"),
        }
    }
    Ok(o)
}

/// A field of /proc/self/status in MiB.
fn status(name: &str) -> f64 {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find(|line| line.starts_with(name))
        .and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1024.0
}

/// User and system time of this process in seconds.
fn cpu() -> f64 {
    // SAFETY: an rusage is plain numbers, and getrusage only writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) as f64
        + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) as f64 / 1e6
}

async fn client(kubeconfig: &str) -> Result<Client> {
    let file = Kubeconfig::read_from(kubeconfig).context("kubeconfig")?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

#[tokio::main]
async fn main() -> Result<()> {
    let o = options()?;
    let client = client(&o.kubeconfig).await?;
    if o.command == "mirror" {
        return mirror::run(client, o.streaming).await;
    }
    let started = Instant::now();
    let (store, mut writer) = reflector::store::<Pod>();
    let mut config = watcher::Config::default();
    if o.streaming {
        config = config.streaming_lists();
    }
    let mut events = std::pin::pin!(watcher(Api::<Pod>::all(client), config).default_backoff());
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                writer.apply_watcher_event(&event);
                if matches!(event, watcher::Event::InitDone) {
                    break;
                }
            }
            Err(error) => eprintln!("kubers-bench: {error}"),
        }
    }
    let mut result = serde_json::json!({
        "program": "kube-rs", "command": o.command, "streaming": o.streaming, "objects": store.len(),
        "wall_s": started.elapsed().as_secs_f64(), "cpu_s": cpu(), "rss_mb": status("VmRSS:"), "peak_mb": status("VmHWM:"),
    });
    if o.command == "watch" {
        let (mut began, mut began_cpu, mut seen, mut read) = (Instant::now(), cpu(), 0u64, 0usize);
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    eprintln!("kubers-bench: {error}");
                    continue;
                }
            };
            if let watcher::Event::Apply(pod) = &event {
                // Handlers of kube-rs are given the new object only; the store still has the old one.
                let old = store.get(&ObjectRef::from_obj(pod));
                read += old.map_or(0, |old| old.metadata.annotations.as_ref().map_or(0, |a| a.len()));
                read += pod.spec.as_ref().map_or(0, |spec| spec.containers.len());
                seen += 1;
                if seen == o.lead {
                    (began, began_cpu) = (Instant::now(), cpu());
                }
            }
            writer.apply_watcher_event(&event);
            if seen == o.lead + o.events {
                break;
            }
        }
        let (wall, used) = (began.elapsed().as_secs_f64(), cpu() - began_cpu);
        let events = o.events as f64;
        for (name, value) in [
            ("wall_s", wall), ("cpu_s", used), ("events", events), ("events_per_s", events / wall),
            ("events_per_cpu_s", events / used), ("cpu_us_per_event", used / events * 1e6),
            ("rss_mb", status("VmRSS:")), ("peak_mb", status("VmHWM:")),
        ] {
            result[name] = value.into();
        }
        std::hint::black_box(read);
    }
    println!("{result}");
    std::process::exit(0);
}
