//! The server: connections with bounds and deadlines, the files of the page, and the socket of every page.

use crate::guard::{Token, host_is_us, origin_is_us};
use crate::hub::Hub;
use crate::{page, socket};
use axum::Router;
use axum::body::Body;
use axum::extract::ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Response, StatusCode, header};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;

/// Connections at once.
const MOST_CONNECTIONS: usize = 256;
/// A request must have come this soon, and its head be no longer than this [bytes].
const HEAD_TIME: Duration = Duration::from_secs(5);
const LONGEST_HEAD: usize = 16 << 10;
/// Messages from a page may be this long [bytes].
const LONGEST_MESSAGE: usize = 16 << 10;
/// What may wait to be written to a page before it is let go [bytes]; frames of 500 000 particles fit.
const MOST_UNWRITTEN: usize = 64 << 20;

/// What every request needs to know.
#[derive(Clone)]
pub struct Door {
    /// What begins every path.
    pub token: Token,
    /// The address listened on.
    pub address: IpAddr,
    /// Where frames come from and requests go to.
    pub hub: Arc<Hub>,
    /// What a page is told first.
    pub hello: Arc<Value>,
}

/// Accepts connections until told to stop.
pub async fn serve(listener: TcpListener, door: Door, mut stop: watch::Receiver<bool>) {
    let service = Router::new().fallback(answer).with_state(door);
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, perhaps: some will close.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        // One too many is closed at once.
        let Ok(place) = places.clone().try_acquire_owned() else { continue };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(service.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(LONGEST_HEAD)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut stop = stop.clone();
        tokio::spawn(async move {
            // What goes wrong on a connection ends that connection.
            tokio::select! {
                _ = connection => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
            drop(place);
        });
    }
}

/// The answer to a request: a file of the page, the socket, or why not.
async fn answer(
    State(door): State<Door>,
    socket: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    request: Request,
) -> Response<Body> {
    let headers = request.headers();
    let host = text(headers, header::HOST.as_str());
    if !host_is_us(host, door.address) {
        return plain(StatusCode::FORBIDDEN, "this name is not one of the viewer");
    }
    let Some(path) = door.token.strip(request.uri().path()) else {
        return plain(StatusCode::NOT_FOUND, "not found: use the whole address that `taffeta view` printed");
    };
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET");
    }
    if path != "socket" {
        return match page::file(path) {
            Some(file) => dressed(StatusCode::OK, file.kind, file.bytes),
            None => plain(StatusCode::NOT_FOUND, "the page has no such file"),
        };
    }
    if !origin_is_us(text(headers, header::ORIGIN.as_str()), host) {
        return plain(StatusCode::FORBIDDEN, "another page may not use the viewer");
    }
    let Ok(socket) = socket else { return plain(StatusCode::BAD_REQUEST, "this address is for WebSockets") };
    let Some(number) = door.hub.enter() else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open");
    };
    let seat = socket::Seat { hub: door.hub.clone(), number };
    socket
        .max_message_size(LONGEST_MESSAGE)
        .max_frame_size(LONGEST_MESSAGE)
        .max_write_buffer_size(MOST_UNWRITTEN)
        .on_upgrade(move |socket| socket::attend(socket, seat, door.hello.clone()))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    dressed(status, "text/plain; charset=utf-8", text.as_bytes())
}

/// A response that no other page can frame, sniff, keep, or learn the address from.
fn dressed(status: StatusCode, kind: &'static str, bytes: &'static [u8]) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let policy = "default-src 'self'; connect-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; \
                  frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    for (name, value) in [
        ("content-type", kind),
        ("content-security-policy", policy),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    ] {
        response.headers_mut().insert(name, header::HeaderValue::from_static(value));
    }
    response
}
