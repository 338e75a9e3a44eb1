// How a page of the program and the program are connected: a WebSocket, which connects again by itself when it is lost.

export interface Wire {
  /** Sends a text message; false where there is no connection. */
  send(text: string): boolean;
}

/** So many bytes of a file go into a message, which the program takes no larger than 16 KiB. */
export const PART = 9000;

/** What to say when there is no connection any more. */
export const ENDED = ["The program has ended", "or cannot be reached: what you see is its last frame.", "Start it again with taffeta view; it prints a new address."] as const;

export function connect(heard: (data: string | ArrayBuffer) => void, connected: (now: boolean) => void): Wire {
  const url = new URL("socket", location.href);
  url.protocol = "ws:";
  url.search = url.hash = "";
  let socket: WebSocket;
  const open = () => {
    socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => connected(true);
    socket.onmessage = (event) => heard(event.data);
    socket.onclose = () => {
      connected(false);
      setTimeout(open, 1500);
    };
  };
  open();
  return {
    send(text) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(text);
      return true;
    },
  };
}
