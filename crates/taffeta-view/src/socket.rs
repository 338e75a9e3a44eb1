//! One page at its socket: it gets the newest frame when it has shown an older one, and its requests are handed on.

use crate::hub::{Hub, Pages};
use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use taffeta_session::message::{self, Asked, Request, VERSION};
use taffeta_session::{Job, Shot, Unshown};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

/// A page that does not take a message in this time is let go; large ones may come by a slow line, or to a page that is busy [bytes in a second].
const PATIENCE: Duration = Duration::from_secs(20);
const SLOWEST: f64 = 65_536.0;
/// Messages of a page are taken no faster than one in this time, but for a burst.
const PACE: Duration = Duration::from_micros(2500);
const BURST: u32 = 100;
/// Answers that may wait for a page.
const MOST_ANSWERS: usize = 512;

/// The place of a page among all; free again when this is dropped.
pub struct Seat {
    /// Where frames come from and requests go to.
    pub hub: Arc<Hub>,
    /// The page's number.
    pub number: u64,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.hub.leave(self.number);
    }
}

/// A page that is gone, or has to go.
struct Gone;

/// Serves a page until it goes.
pub async fn attend(socket: WebSocket, seat: Seat, hello: Arc<Value>) {
    let (answers, mut answered) = mpsc::channel(MOST_ANSWERS);
    let mut page =
        Page { socket, seat, answers, unshown: Unshown::default(), shape: None, next: Instant::now() };
    // However it ends, the seat is free afterwards.
    let _ = page.serve(&hello, &mut answered).await;
}

struct Page {
    socket: WebSocket,
    seat: Seat,
    answers: mpsc::Sender<Message>,
    unshown: Unshown,
    /// The shape sent last.
    shape: Option<u32>,
    /// When the next message is due at the slowest pace.
    next: Instant,
}

impl Page {
    async fn serve(&mut self, hello: &Value, answered: &mut mpsc::Receiver<Message>) -> Result<(), Gone> {
        let hub = self.seat.hub.clone();
        let (mut shots, mut status) = (hub.shot.subscribe(), hub.status.subscribe());
        let (mut pages, mut notices) = (hub.pages.subscribe(), hub.notices.subscribe());
        self.send(Message::text(hello.to_string())).await?;
        shots.mark_changed();
        status.mark_changed();
        pages.mark_changed();
        loop {
            // Somebody who asks without end still sees frames, and the other way round: the choice is random.
            tokio::select! {
                message = self.socket.recv() => self.hear(message.and_then(Result::ok).ok_or(Gone)?).await?,
                Some(answer) = answered.recv() => self.send(answer).await?,
                notice = notices.recv() => match notice {
                    Ok(notice) => self.send(Message::text(notice)).await?,
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Err(Gone),
                },
                changed = status.changed() => {
                    changed.map_err(|_| Gone)?;
                    // There is none before the simulation's thread has told its first.
                    let told = status.borrow_and_update().clone();
                    if !told.is_null() {
                        self.send(Message::text(told.to_string())).await?;
                    }
                }
                changed = pages.changed() => {
                    changed.map_err(|_| Gone)?;
                    let text = self.told(&pages.borrow_and_update());
                    self.send(Message::text(text)).await?;
                }
                changed = shots.changed(), if self.unshown.has_room() => {
                    changed.map_err(|_| Gone)?;
                    let shot = shots.borrow_and_update().clone();
                    if let Some(shot) = shot {
                        self.show(&shot).await?;
                    }
                }
            }
        }
    }

    /// Sends a frame, and before it the shape where that is new.
    async fn show(&mut self, shot: &Shot) -> Result<(), Gone> {
        if self.shape != Some(shot.shape) {
            self.send(Message::Binary(shot.shape_packet.clone())).await?;
            self.shape = Some(shot.shape);
        }
        self.unshown.sent(shot.serial);
        self.send(Message::Binary(shot.packet.clone())).await
    }

    async fn hear(&mut self, message: Message) -> Result<(), Gone> {
        self.slow_down().await;
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => return self.refuse(None, "messages to the program are text").await,
            Message::Close(_) => return Err(Gone),
            // Answered by the library.
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
        };
        let Asked { id, request } = match message::read(&text) {
            Ok(asked) => asked,
            Err((id, malformed)) => return self.refuse(id, &malformed.to_string()).await,
        };
        match request {
            Request::Got { serial } => {
                self.unshown.shown(serial);
                Ok(())
            }
            Request::Take {} => {
                self.seat.hub.take(self.seat.number);
                self.send(Message::text(message::reply(id, &"you control".into()))).await
            }
            _ if self.seat.hub.pages.borrow().control != Some(self.seat.number) => {
                self.refuse(id, "another page controls; take control first").await
            }
            request => {
                let answers = self.answers.clone();
                let answer = Box::new(move |text: String, file: Option<Bytes>| {
                    // A page that does not take its answers does not get them.
                    let file = file.map(Message::Binary).map(|file| answers.try_send(file));
                    let _ = answers.try_send(Message::text(text)).and(file.unwrap_or(Ok(())));
                });
                let job = Job { id, request, page: self.seat.number, answer };
                if self.seat.hub.ask(job) {
                    return Ok(());
                }
                self.refuse(id, "too many requests are waiting; ask again").await
            }
        }
    }

    /// Makes a page that talks too much wait for itself.
    async fn slow_down(&mut self) {
        let now = Instant::now();
        self.next = self.next.max(now.checked_sub(PACE * BURST).unwrap_or(now)) + PACE;
        if self.next > now {
            sleep_until(self.next).await;
        }
    }

    async fn refuse(&mut self, id: Option<u64>, reason: &str) -> Result<(), Gone> {
        self.send(Message::text(message::error(id, reason))).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        match timeout(patience(&message), self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone),
        }
    }

    fn told(&self, pages: &Pages) -> String {
        let control = pages.control == Some(self.seat.number);
        json!({ "v": VERSION, "kind": "pages", "control": control, "watching": pages.present.len() })
            .to_string()
    }
}

/// How long a page may take to take a message.
fn patience(message: &Message) -> Duration {
    let size = match message {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) => bytes.len(),
        _ => 0,
    };
    PATIENCE + Duration::from_secs_f64(size as f64 / SLOWEST)
}
