// llama.cpp, one request: llamacpp.mjs MODEL.gguf THREADS PROMPT TOKENS; with --check only whether it can run here.
// node_modules are those of the folder PEERS_DIR, see setup.sh.
import {pathToFileURL} from "node:url";

const folder = process.env.PEERS_DIR;
if (!folder) throw new Error("PEERS_DIR is not set; it is the folder that lab/peers/setup.sh made");
const {getLlama} = await import(pathToFileURL(`${folder}/node_modules/node-llama-cpp/dist/index.js`).href);
const [, , modelPath, threads, promptTokens, tokens] = process.argv;
if (modelPath === "--check") process.exit(0);

// performance.now() counts from the process's begin.
const seconds = () => performance.now() / 1e3;
const llama = await getLlama({gpu: false, maxThreads: +threads, build: "never", logLevel: "error"});
const model = await llama.loadModel({modelPath});
const context = await model.createContext({
  contextSize: +promptTokens + +tokens + 8, threads: {ideal: +threads, min: +threads}, batchSize: 512, flashAttention: true});
const sequence = context.getSequence();
const prompt = Array.from({length: +promptTokens}, (_, i) => 5 + (i * 7) % 1000);
const begin = seconds();
let first;
let last;
let generated = 0;
for await (const token of sequence.evaluate(prompt, {temperature: 0, yieldEogToken: true})) {
  last = seconds();
  if (generated === 0) {
    first = last;
    process.stdout.write(".\n");
  }
  if (++generated === +tokens) break;
}
console.log(JSON.stringify({
  peer: "llama.cpp, node-llama-cpp 3.21.1",
  time_s: {load: begin, prefill: first - begin, ttft: first - begin, ttft_cold: first, decode: last - first},
  tokens: {prompt: +promptTokens, generated}}));
process.exit(0);
