// Search in a directory. Browsers start no worker from file://, so this one runs the worker's script in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #waiting = [];
    #inside;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      const attach = () => {
        document.body.append(frame);
        this.#inside = frame.contentWindow;
        this.#inside.postMessage = data => {
          const event = new MessageEvent("message", { data });
          this.dispatchEvent(event);
          this.onmessage?.(event);
        };
        this.#inside.importScripts = (...names) => Promise.all(names.map(name => this.#load(new URL(name, url))));
        this.#load(url).then(() => {
          const waiting = this.#waiting;
          this.#waiting = null;
          waiting.forEach(data => this.postMessage(data));
        });
      };
      document.body ? attach() : addEventListener("DOMContentLoaded", attach);
    }

    #load(url) {
      return new Promise(resolve => {
        const script = this.#inside.document.createElement("script");
        script.src = url;
        script.onload = script.onerror = resolve;
        this.#inside.document.documentElement.append(script);
      });
    }

    postMessage(data) {
      if (this.#waiting) this.#waiting.push(data);
      else this.#inside.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.#inside?.frameElement.remove();
    }
  };
}
