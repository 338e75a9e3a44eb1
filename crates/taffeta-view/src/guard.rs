//! Who may ask: the token in the path, the name in `Host`, the page in `Origin`.

use std::fmt::Write as _;
use std::net::IpAddr;

/// A secret of 128 random bits in hexadecimal digits; it begins every path.
#[derive(Debug, Clone)]
pub struct Token(String);

impl Token {
    /// A new one, from the randomness of the system.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        Ok(Self(bits.iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })))
    }

    /// Its digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// What follows the token in a path that begins with it. The comparison takes as long for every wrong token.
    pub fn strip<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (given, rest) = path.strip_prefix('/')?.split_once('/')?;
        let differs = given.bytes().zip(self.0.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        (given.len() == self.0.len() && differs == 0).then_some(rest)
    }
}

/// Whether `Host` names this machine as it listens on `address`: a loopback name, or that very address. Any port will do, because
/// forwarded ones differ. A name that merely resolves to us is refused, which is what stops DNS rebinding.
pub fn host_is_us(host: &str, address: IpAddr) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inside, after)) if after.is_empty() || is_port(after) => inside,
        Some(_) => return false,
        None => match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            Some(_) => return false,
            None => host,
        },
    };
    let named = name.parse::<IpAddr>();
    let listened = |ip: IpAddr| ip.is_loopback() || ip == address || address.is_unspecified();
    name.eq_ignore_ascii_case("localhost") || named.is_ok_and(listened)
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a WebSocket is opened by a page of ours: `Origin` is `http://` and then what `Host` says.
pub fn origin_is_us(origin: &str, host: &str) -> bool {
    origin.strip_prefix("http://").is_some_and(|from| from.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_opens() {
        let token = Token::new().unwrap();
        let text = token.text().to_string();
        assert_eq!(text.len(), 32);
        assert_ne!(Token::new().unwrap().text(), text);
        assert_eq!(token.strip(&format!("/{text}/a/b")), Some("a/b"));
        assert_eq!(token.strip(&format!("/{text}/")), Some(""));
        for path in [
            "",
            "/",
            "//",
            "/socket",
            &format!("/{text}"),
            &format!("{text}/"),
            &format!("/{}0/", &text[1..]),
        ] {
            assert_eq!(token.strip(path), None, "{path}");
        }
    }

    #[test]
    fn hosts_and_origins() {
        let own: IpAddr = "127.0.0.1".parse().unwrap();
        for host in ["127.0.0.1:7878", "localhost:9000", "LOCALHOST", "[::1]:7878", "127.0.0.1"] {
            assert!(host_is_us(host, own), "{host}");
            assert!(origin_is_us(&format!("http://{host}"), host));
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:7878",
            "10.0.0.1:7878",
            "127.0.0.1:x",
            "[::1]x",
            "[::1",
        ] {
            assert!(!host_is_us(host, own), "{host}");
        }
        assert!(host_is_us("10.0.0.1:7878", "0.0.0.0".parse().unwrap()));
        assert!(!host_is_us("evil.example", "0.0.0.0".parse().unwrap()));
        for origin in ["null", "", "https://localhost:7878", "http://localhost:1", "http://evil.example"] {
            assert!(!origin_is_us(origin, "localhost:7878"), "{origin}");
        }
    }
}
