//! Who is let in: token, host, origin, and no file but the page's own.

use crate::client::{Page, exchange, parts, viewer};
use tempfile::TempDir;

fn get(url: &str, path: &str, host: &str) -> String {
    exchange(url, format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes())
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[test]
fn the_page_needs_its_token_and_our_name() {
    let folder = TempDir::new().unwrap();
    let viewer = viewer(folder.path());
    let url = viewer.url();
    let (host, root) = parts(&url);
    let page = get(&url, root, host);
    assert_eq!(status(&page), "200");
    assert!(page.contains("Taffeta") && page.contains("content-security-policy") && page.contains("nosniff"));
    assert_eq!(status(&get(&url, root, &format!("localhost:{}", viewer.port()))), "200");

    for path in ["/", "/index.html", "/0123456789abcdef0123456789abcdef/", "/socket", "//", "/../"] {
        assert_eq!(status(&get(&url, path, host)), "404", "{path}");
    }
    for inside in [
        "../",
        "../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/secret",
        "./index.html",
        "assets/../index.html",
        "src/main.ts",
        "\\..\\x",
        "index.html%00",
        "/etc/passwd",
    ] {
        assert_eq!(status(&get(&url, &format!("{root}{inside}"), host)), "404", "{inside}");
    }
    for name in ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example"] {
        assert_eq!(status(&get(&url, root, name)), "403", "{name}");
    }
    assert_eq!(
        status(&exchange(
            &url,
            format!("POST {root} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                .as_bytes()
        )),
        "405"
    );
    assert_eq!(status(&get(&url, &format!("{root}socket"), host)), "403", "no origin");
}

#[test]
fn sockets_need_our_origin() {
    let folder = TempDir::new().unwrap();
    let viewer = viewer(folder.path());
    let url = viewer.url();
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        assert_eq!(Page::from_origin(&url, origin).err(), Some(403), "{origin}");
    }
    assert_eq!(Page::open(&url).next()["kind"], "hello");
    // There is room for so many pages, and again when they are gone.
    let pages: Vec<_> =
        (0..20).map(|_| Page::from_origin(&url, &format!("http://{}", parts(&url).0))).collect();
    let refused: Vec<u16> = pages.iter().filter_map(|page| page.as_ref().err().copied()).collect();
    // The page of the line above may still be on its way out.
    assert!((4..=5).contains(&refused.len()) && refused.iter().all(|status| *status == 503), "{refused:?}");
}
