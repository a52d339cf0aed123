// The playground's page: sends the text to a worker that runs Python, and shows its answer.

const EXAMPLES = [
  ["matrix product", "batch chan, chan out -> batch out", ""],
  ["a mistyped label", "batch chan, chann out -> batch out", ""],
  ["split a dim, and move it", "N (h d) -> h N d", "h=2"],
  ["mean over two dims", "N H W C -> N C : mean", ""],
  ["diagonal", "i i -> i", ""],
  ["convolution", "N H@(h + k), k -> N h", "N=1 H=8 k=3"],
  ["attention", "p[Q K] = softmax[K](sum[d](q[Q d] * k[K d]) / sqrt(size[d]))\ny[Q e] = sum[K](p * v[K e])", "Q=2 K=3 d=2 e=2"],
  ["a dim that would be dropped", "y[N K] = x[N C] * w[C K]", ""],
  ["distances between points", "d[i j] = sqrt(sum[c]((x[i c] - x[j c]) ** 2))", "i=4"],
  ["look up rows", "e[T D] = table[word@ids[T] D]", "T=4"],
  ["running state", "h[(1 + T)] = 0, tanh(0.5 * h[_@T] + x[T])", "T=5"],
  ["gradient", "loss = mean[N]((sum[C](x[N C] * w[C]) - y[N]) ** 2)\ng[C] = grad(loss, w[C])", "N=4 C=2"],
  ["Hessian", "loss = sum[C](exp(w[C])) ** 2\nh[C D] = grad(grad(loss, w[C]), w[D])", "C=3"],
];

const find = (name) => document.getElementById(`playground-${name}`);
const [example, text, sizes, operands, state, output] = ["example", "text", "sizes", "operands", "state", "output"].map(find);
const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const runtime = document.documentElement.dataset.pyodide || new URLSearchParams(location.search).get("pyodide");
let edited = {};
let asked = 0;
let timer = 0;

// "N=2 C=3" as an object.
function readSizes() {
  const pairs = [...sizes.value.matchAll(/([^\s=,]+)\s*=\s*(\d+)/gu)];
  return Object.fromEntries(pairs.map(([, name, size]) => [name, Number(size)]));
}

function ask() {
  asked += 1;
  state.textContent = "...";
  const hash = new URLSearchParams({ text: text.value, sizes: sizes.value });
  history.replaceState(null, "", `${location.pathname}${location.search}#${hash}`);
  // As it was typed: 1.0 is a float, and JavaScript would write it as 1.
  const arrays = Object.entries(edited).map(([name, array]) => `${JSON.stringify(name)}: ${array}`);
  const given = `{"sizes": ${JSON.stringify(readSizes())}, "operands": {${arrays.join(", ")}}}`;
  worker.postMessage({ number: asked, text: text.value, given });
}

function askSoon() {
  clearTimeout(timer);
  timer = setTimeout(ask, 200);
}

function showOperands(values) {
  const names = Object.keys(values);
  operands.replaceChildren(...names.map((name) => {
    const label = document.createElement("label");
    const field = document.createElement("textarea");
    label.textContent = name;
    field.value = values[name];
    field.rows = 2;
    field.spellcheck = false;
    field.addEventListener("input", () => {
      try {
        JSON.parse(field.value);
        edited = { ...edited, [name]: field.value };
        field.removeAttribute("aria-invalid");
        askSoon();
      } catch {
        field.setAttribute("aria-invalid", "true");
      }
    });
    label.append(field);
    return label;
  }));
}

function show(answer) {
  output.classList.toggle("is-error", "error" in answer);
  output.textContent = answer.error ?? [...(answer.statements ?? []), answer.result].join("\n");
  if (answer.operands && !operands.contains(document.activeElement)) {
    showOperands(answer.operands);
  }
}

worker.onmessage = ({ data }) => {
  if (data.failed) {
    state.textContent = `Python could not be loaded: ${data.failed}`;
  } else if (data.ready) {
    state.textContent = "Ready.";
    ask();
  } else if (data.number === asked) {
    state.textContent = `Ready. Checked and computed in ${data.milliseconds} ms.`;
    show(JSON.parse(data.answer));
  }
};

example.append(...EXAMPLES.map(([name]) => new Option(name)));
example.addEventListener("change", () => {
  [, text.value, sizes.value] = EXAMPLES[example.selectedIndex];
  edited = {};
  ask();
});
text.addEventListener("input", () => {
  edited = {};
  askSoon();
});
sizes.addEventListener("input", () => {
  edited = {};
  askSoon();
});

const hash = new URLSearchParams(location.hash.slice(1));
[, text.value, sizes.value] = EXAMPLES[0];
if (hash.has("text")) {
  text.value = hash.get("text");
  sizes.value = hash.get("sizes") ?? "";
}
worker.postMessage({ runtime });
