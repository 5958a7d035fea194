// What llama.cpp makes of the tiny files: writes expected.json. Needs, beside this script or in
// NODE_PATH's folder:  npm install --ignore-scripts node-llama-cpp@3.21.1 @node-llama-cpp/linux-x64@3.21.1
//
//   node llamacpp.mjs FOLDER_OF_GGUF_FILES > expected.json
//
// One thread, no GPU, no flash attention, the cache in f32, as the files' weights are. Prompts are ids
// and not text; their lengths stand on either side of the window of 32 that some families have.
import fs from "node:fs";
import path from "node:path";
import {getLlama} from "node-llama-cpp";

const folder = process.argv[2];
const lengths = [5, 31, 32, 33, 64];
const more = 64;
const promptOf = (length) => Array.from({length}, (_, i) => 33 + (i * 37 + length * 11) % 200);

const llama = await getLlama({gpu: false, maxThreads: 1, build: "never", logLevel: "error"});
const out = {oracle: `llama.cpp ${llama.llamaCppRelease.release}, of node-llama-cpp 3.21.1`, files: {}};
for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".gguf")).sort()) {
  const model = await llama.loadModel({modelPath: path.join(folder, file)});
  const context = await model.createContext({
    contextSize: 256, threads: {ideal: 1, min: 1}, batchSize: 128, flashAttention: false,
    experimentalKvCacheKeyType: "F32", experimentalKvCacheValueType: "F32"});
  const sequence = context.getSequence();
  const runs = [];
  for (const length of lengths) {
    await sequence.clearHistory();
    const prompt = promptOf(length);
    const ids = [];
    const chances = [];
    const options = {probabilities: true};
    await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(0, -1));
    for await (const step of sequence.evaluateWithMetadata(
      [prompt.at(-1)], options, {temperature: 0, yieldEogToken: true})) {
      ids.push(step.token);
      const best = [...step.probabilities.values()].sort((a, b) => b - a).slice(0, 2);
      chances.push(+(best[0] / best[1]).toPrecision(4));
      if (ids.length === more) break;
    }
    runs.push({prompt: length, ids, ratios: chances});
  }
  out.files[path.basename(file, ".gguf")] = runs;
  await context.dispose();
  await model.dispose();
}
const lines = Object.entries(out.files).map(([name, runs]) => `  ${JSON.stringify(name)}: [\n` +
  runs.map((run) => "   " + JSON.stringify(run)).join(",\n") + "]");
process.stdout.write(`{"oracle": ${JSON.stringify(out.oracle)},\n "files": {\n${lines.join(",\n")}}}\n`);
process.exit(0);
