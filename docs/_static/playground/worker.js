// Runs Python for the playground, so that the page never waits for it.

const CDN = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/";
let answer;

async function load(runtime) {
  const { loadPyodide } = await import(`${runtime}pyodide.mjs`);
  const python = await loadPyodide({ indexURL: runtime });
  const sources = await fetch(new URL("nameexpr.zip", import.meta.url));
  if (!sources.ok) {
    throw new Error(`${sources.url} is missing`);
  }
  python.unpackArchive(await sources.arrayBuffer(), "zip", { extractDir: "/sources" });
  python.runPython("import sys; sys.path.insert(0, '/sources'); sys.setrecursionlimit(900)");
  answer = python.pyimport("playground.page").answer;
}

onmessage = async ({ data }) => {
  if (!("text" in data)) {
    try {
      await load(new URL(data.runtime || CDN, location.href).href);
      postMessage({ ready: true });
    } catch (fault) {
      postMessage({ failed: String(fault) });
    }
  } else if (answer) {
    const start = performance.now();
    const found = answer(data.text, data.given);
    postMessage({ number: data.number, answer: found, milliseconds: Math.round(performance.now() - start) });
  }
};
