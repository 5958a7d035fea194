// Perplexity of a model beside llama.cpp's, on the same tokens:
//
//   build/release/perplexity MODEL.gguf > ours.json && node perplexity.mjs MODEL.gguf ours.json
//
// Needs node-llama-cpp 3.21.1 as llamacpp.mjs does, or PEERS_DIR, the folder that lab/peers/setup.sh
// made. One thread, the cache in f16.
import fs from "node:fs";
import {pathToFileURL} from "node:url";

const peers = process.env.PEERS_DIR;
const {getLlama} = await import(
  peers ? pathToFileURL(`${peers}/node_modules/node-llama-cpp/dist/index.js`).href : "node-llama-cpp");

const [, , modelPath, oursPath] = process.argv;
const ours = JSON.parse(fs.readFileSync(oursPath, "utf8"));
const ids = ours.ids;
const llama = await getLlama({gpu: false, maxThreads: 2, build: "never", logLevel: "error"});
const model = await llama.loadModel({modelPath});
const context = await model.createContext({
  contextSize: ids.length + 8, threads: {ideal: 2, min: 1}, batchSize: 64, flashAttention: false});
const sequence = context.getSequence();
let theirs = 0;
let mine = 0;
let agree = 0;
const chunk = 32;
for (let begin = 0; begin + 1 < ids.length; begin += chunk) {
  const part = ids.slice(begin, Math.min(begin + chunk, ids.length - 1));
  const out = await sequence.controlledEvaluate(
    part.map((id) => [id, {generateNext: {token: true, probabilities: true, options: {temperature: 0}}}]));
  for (let i = 0; i < part.length; i++) {
    const next = out[i].next;
    theirs += Math.log(Math.max(next.probabilities.get(ids[begin + i + 1]) ?? 0, 1e-30));
    mine += ours.log_chances[begin + i];
    agree += next.token === ours.best[begin + i];
  }
}
const count = ids.length - 1;
const perplexity = (sum) => Math.exp(-sum / count);
console.log(JSON.stringify({
  tokens: count, ours: +perplexity(mine).toFixed(4), llama_cpp: +perplexity(theirs).toFixed(4),
  ratio: +(perplexity(mine) / perplexity(theirs)).toFixed(5), top1_agreement: +(agree / count).toFixed(4)}));
process.exit(0);
