// Draws a report: the tables and figures of what src/lab/report_data.cc wrote into #data.
// The figures are Vega-Lite specifications; colours are Okabe and Ito's, with a shape or a dash
// beside them, and all else takes the page's own colour, so that dark and print need nothing more.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("report");
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b08900", "#56b4e9", "#8a8a8a"];
  const dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 4], [1, 3]];
  const shapes = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"];
  const mebi = 1 << 20;
  const drawing = [];
  const redraws = [];
  const marks = new Map(data.arms.map((arm) => [arm.name, arm.mark]));
  const armNames = data.arms.map((arm) => titled(arm.name));

  function titled(arm) { return marks.get(arm) ? `${arm} (${marks.get(arm)})` : arm; }

  function add(parent, tag, text, attributes = {}) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent.append(element);
    return element;
  }

  function number(value) {
    if (value === undefined || value === null || Number.isNaN(value)) return "";
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size < 0.001) return value.toPrecision(2);
    return value.toLocaleString("en", {maximumFractionDigits: Math.max(0, 2 - Math.floor(Math.log10(size)))});
  }
  const signed = (value) => (value > 0 ? "+" : "") + number(value);

  function table(parent, head, rows) {
    const box = add(parent, "div", undefined, {class: "scroll"});
    const element = add(box, "table");
    const first = add(add(element, "thead"), "tr");
    for (const cell of head) add(first, "th", cell, {scope: "col"});
    const body = add(element, "tbody");
    for (const row of rows) {
      const line = add(body, "tr");
      for (const cell of row) add(line, "td", cell === undefined || cell === null ? "" : String(cell));
    }
  }

  function numbersBeside(parent, head, rows) {
    const details = add(parent, "details");
    add(details, "summary", "The figure's numbers");
    table(details, head, rows);
  }

  const config = {
    background: null,
    font: "system-ui, sans-serif",
    axis: {labelColor: "currentColor", titleColor: "currentColor", domainColor: "currentColor",
           tickColor: "currentColor", gridColor: "currentColor", gridOpacity: 0.15, labelLimit: 260,
           labelFontSize: 12, titleFontSize: 12},
    legend: {labelColor: "currentColor", titleColor: "currentColor", orient: "bottom", columns: window.innerWidth < 600 ? 2 : 5,
             symbolStrokeWidth: 2, labelLimit: 240, labelFontSize: 12},
    header: {labelColor: "currentColor", titleColor: "currentColor", labelFontSize: 12},
    title: {color: "currentColor"},
    text: {color: "currentColor"},
    view: {stroke: null},
  };

  // Every figure tells in data-drawn whether it was: "yes", or what went wrong. `spec` may be a
  // function of the width there is, for figures of several parts, which do not fit themselves.
  function figure(parent, caption, spec) {
    const element = add(parent, "figure");
    const plot = add(element, "div", undefined, {class: "plot", role: "img", "aria-label": caption, "data-drawn": "no"});
    add(element, "figcaption", caption);
    const draw = () => {
      const own = typeof spec === "function" ? spec(plot.clientWidth)
                                             : {width: "container", autosize: {type: "fit-x", contains: "padding"}, ...spec};
      return window.vegaEmbed(plot, {$schema: "https://vega.github.io/schema/vega-lite/v6.json", config, ...own},
                              {actions: false, renderer: "svg"}).then(
          () => { plot.dataset.drawn = plot.querySelector("svg path, svg line, svg text") ? "yes" : "empty"; },
          (error) => { plot.dataset.drawn = String(error); console.error(caption, error); });
    };
    drawing.push(draw());
    if (typeof spec === "function") redraws.push(draw);
    return element;
  }

  const armScale = (used) => {
    const domain = armNames.filter((name) => used.has(name));
    const pick = (list) => domain.map((name) => list[armNames.indexOf(name) % list.length]);
    return {colour: {domain, range: pick(colours)}, dash: {domain, range: pick(dashes)}, shape: {domain, range: pick(shapes)}};
  };
  const usedArms = (rows) => new Set(rows.map((row) => row.arm));
  const withUnit = (endpoint) => `${endpoint.label}${endpoint.key ? ` [${endpoint.key}]` : ""}, ${endpoint.unit}`;

  function intro() {
    if (data.question) add(main, "p", data.question);
    const short = data.made < data.wanted ? " It is not complete." : "";
    add(main, "p", `Campaign ${data.name}: ${data.made} of ${data.wanted} runs, ${data.failures.length} failed.${short}`,
        data.failures.length || short ? {class: "warn"} : {});
    const protocol = data.protocol;
    add(main, "p", `Each run is a fresh process. In each of ${protocol.blocks} blocks every arm runs once, in the order of a ` +
        `Williams design${protocol.turn_ms ? `, all at once in turns of ${protocol.turn_ms} ms, and seconds are those in which a process ran` : ""}` +
        `; history of earlier runs: ${protocol.history}; the model's file: ${protocol.file_cache}. Tables give medians, ` +
        "with the least and the most; effects are means of pairs from the same block with Student's 95 % interval.", {class: "soft"});
    const arms = add(main, "ul", undefined, {class: "soft"});
    for (const arm of data.arms) {
      const item = add(arms, "li", `${titled(arm.name)}: `);
      add(item, "code", arm.command.length ? arm.command.join(" ") : `ahead run ${arm.options.join(" ")}`.trim());
      if (arm.note) item.append(` ${arm.note}`);
    }
    const facts = add(main, "ul", undefined, {class: "soft"});
    for (const session of data.sessions) {
      add(facts, "li", `${session.began}: ${session.machine}; Ahead ${session.ahead}, commit ${session.commit ?? "not known"}; ${session.system}`);
    }
    if (data.limits.length) add(main, "h3", "What this does not show");
    const limits = add(main, "ul");
    for (const limit of data.limits) add(limits, "li", limit);
    if (data.sets.length > 1) {
      const nav = add(main, "nav");
      data.sets.forEach((set, i) => add(nav, "a", set.name, {href: `#set-${i}`}));
    }
  }

  function endpoints(section, set) {
    if (!set.endpoints.length) return;
    add(section, "h3", "Endpoints");
    const arms = set.endpoints[0].arms.map((arm) => arm.arm);
    table(section, ["", ...arms.map(titled)], set.endpoints.map((endpoint) => [withUnit(endpoint),
      ...endpoint.arms.map((arm) => {
        const failed = arm.failed ? ` ${arm.failed} failed` : "";
        if (!arm.n) return failed.trim();
        return number(arm.median) + (arm.n > 1 ? ` (${number(arm.least)}–${number(arm.most)})` : "") + failed;
      })]));
  }

  // One row of dots an endpoint: each sample, the median as a bar.
  function dots(section, set) {
    const flat = set.endpoints.filter((endpoint) => !endpoint.key && endpoint.arms.some((arm) => arm.n));
    if (!flat.length) return;
    const rows = flat.flatMap((endpoint) => endpoint.arms.flatMap((arm) =>
        (arm.samples ?? []).map((value) => ({endpoint: withUnit(endpoint), arm: titled(arm.arm), value}))));
    const scale = armScale(usedArms(rows));
    figure(section, `Every run of ${set.name}: a sign a run, a bar at the median.`, (width) => ({
      data: {values: rows},
      facet: {row: {field: "endpoint", type: "nominal", title: null, sort: flat.map(withUnit),
                    header: {labelAngle: 0, labelAlign: "left", labelAnchor: "start", labelOrient: "top"}}},
      resolve: {scale: {x: "independent"}, axis: {x: "independent"}},
      spec: {
        width: Math.max(160, width - 130), height: {step: 18},
        encoding: {y: {field: "arm", type: "nominal", title: null, sort: armNames},
                   x: {field: "value", type: "quantitative", title: null, scale: {zero: true}},
                   color: {field: "arm", type: "nominal", scale: scale.colour, legend: null}},
        layer: [{mark: {type: "point", size: 50, filled: false, strokeWidth: 1.8, tooltip: true},
                 encoding: {shape: {field: "arm", type: "nominal", scale: scale.shape, legend: null}}},
                {mark: {type: "tick", thickness: 3, size: 16}, encoding: {x: {aggregate: "median", field: "value", type: "quantitative"}}}],
      },
    }));
  }

  function byContext(section, set) {
    const groups = new Map();
    for (const endpoint of set.endpoints.filter((candidate) => candidate.key)) {
      if (!groups.has(endpoint.name)) groups.set(endpoint.name, []);
      groups.get(endpoint.name).push(endpoint);
    }
    for (const keyed of groups.values()) {
      const rows = keyed.flatMap((endpoint) => endpoint.arms.filter((arm) => arm.n).map((arm) => (
        {key: endpoint.key, arm: titled(arm.arm), median: arm.median, least: arm.least, most: arm.most})));
      const scale = armScale(usedArms(rows));
      const numeric = rows.every((row) => row.key !== "" && !Number.isNaN(Number(row.key)));
      const x = {field: "key", type: "ordinal", title: numeric ? "rung, tokens" : null, sort: keyed.map((endpoint) => endpoint.key), axis: {labelAngle: 0}};
      const shape = figure(section, `${keyed[0].label}, ${keyed[0].unit}: medians, with lines from the least to the most.`, {
        data: {values: rows}, height: 260,
        encoding: {x, color: {field: "arm", type: "nominal", scale: scale.colour, title: null}},
        layer: [
          {mark: {type: "line", strokeWidth: 2}, encoding: {y: {field: "median", type: "quantitative", title: keyed[0].unit},
            strokeDash: {field: "arm", type: "nominal", scale: scale.dash, title: null}}},
          {mark: {type: "rule", opacity: 0.6}, encoding: {y: {field: "least", type: "quantitative"}, y2: {field: "most"}}},
          {mark: {type: "point", filled: true, size: 60, tooltip: true}, encoding: {y: {field: "median", type: "quantitative"},
            shape: {field: "arm", type: "nominal", scale: scale.shape, title: null}}}],
      });
      numbersBeside(shape, ["arm", "at", "least", "median", "most"], rows.map((row) => [row.arm, row.key, number(row.least), number(row.median), number(row.most)]));
    }
  }

  function effects(section, set) {
    if (!set.effects.length) return;
    add(section, "h3", "Effects");
    const named = (effect) => `${titled(effect.from)} → ${titled(effect.to)}: ${withUnit(effect)}`;
    table(section, ["", "pairs", "mean before", "mean after", "difference", "95 % interval", "%", "sign-flip p"],
      set.effects.map((effect) => [named(effect), effect.pairs, number(effect.mean_from), number(effect.mean_to), signed(effect.difference),
        effect.low === undefined ? "of one pair, none" : `${signed(effect.low)} to ${signed(effect.high)}`,
        effect.percent === null ? "" : signed(effect.percent), effect.p === undefined ? "" : `${number(effect.p)} (least: ${number(effect.least_p)})`]));
    const rows = set.effects.filter((effect) => effect.percent_low !== undefined && effect.percent_low !== null).map((effect) => ({
      effect: named(effect), percent: effect.percent, low: effect.percent_low, high: effect.percent_high,
      verdict: !effect.apart ? "not told apart" : (effect.difference < 0) === (effect.better === "less") ? "better" : "worse"}));
    if (!rows.length) return;
    figure(section, "Effects in percent of the first arm's mean, with 95 % intervals. Where a line touches 0, the arms are not told apart.", {
      data: {values: rows}, height: 26 * rows.length,
      encoding: {y: {field: "effect", type: "nominal", title: null, sort: rows.map((row) => row.effect), axis: {labelLimit: Math.max(120, Math.min(420, section.clientWidth * 0.5))}},
                 color: {field: "verdict", type: "nominal", title: null, scale: {domain: ["better", "worse", "not told apart"], range: ["#009e73", "#d55e00", "#8a8a8a"]}}},
      layer: [
        {data: {values: [{}]}, mark: {type: "rule", color: "currentColor", opacity: 0.5}, encoding: {x: {datum: 0}, y: {value: 0}, y2: {value: "height"}, color: {value: "currentColor"}}},
        {mark: {type: "rule", strokeWidth: 3}, encoding: {x: {field: "low", type: "quantitative", title: "percent"}, x2: {field: "high"}}},
        {mark: {type: "point", filled: true, size: 70, tooltip: true}, encoding: {x: {field: "percent", type: "quantitative"},
          shape: {field: "verdict", type: "nominal", title: null, scale: {domain: ["better", "worse", "not told apart"], range: ["circle", "diamond", "cross"]}}}}],
    });
  }

  function boundaries(section, set) {
    if (!set.boundaries.length) return;
    add(section, "h3", "Boundaries");
    table(section, ["arm", "boundary", "new KV, MiB", "ready", "wait, s", "migration, ms", "copied, MiB", "top-1", "least cosine"],
      set.boundaries.map((row) => [titled(row.arm), `${row.from} → ${row.to}`, number(row.new_kv_bytes / mebi), `${row.ready}/${row.moves}`,
        number(row.wait_s), number(1e3 * row.migration_s), number(row.copied_bytes / mebi),
        row.compared ? `${row.top1_equal}/${row.compared}` : "", row.min_cosine === null ? "" : row.min_cosine.toFixed(7)]));
  }

  function timeline(section, set) {
    const rows = set.curves.flatMap((run) => (run.timeline ?? []).map(([row, name, begin, end]) => (
      {arm: titled(run.arm), row: row === "device" ? "device" : "compiler", name, begin, end,
       kind: row !== "device" ? "compile" : name.startsWith("wait") ? "wait" : name.startsWith("prefill") ? "prefill" : "decode"})));
    if (!rows.length) return;
    const kinds = ["prefill", "decode", "wait", "compile"];
    const shape = figure(section, "The first good run of each arm: what the device did, and what was compiled beside it.", (width) => ({
      data: {values: rows},
      facet: {row: {field: "arm", type: "nominal", title: null, sort: armNames,
                    header: {labelAngle: 0, labelAlign: "left", labelAnchor: "start", labelOrient: "top"}}},
      spec: {
        width: Math.max(160, width - 75), height: {step: 20},
        mark: {type: "bar", tooltip: true, stroke: "currentColor", strokeWidth: 0.3, height: {band: 0.8}},
        encoding: {y: {field: "row", type: "nominal", title: null, sort: ["device", "compiler"]},
                   x: {field: "begin", type: "quantitative", title: "seconds since the request"}, x2: {field: "end"},
                   color: {field: "kind", type: "nominal", title: null, scale: {domain: kinds, range: ["#56b4e9", "#0072b2", "#d55e00", "#b08900"]}},
                   tooltip: [{field: "name"}, {field: "begin", format: ".3f"}, {field: "end", format: ".3f"}]},
      },
    }));
    numbersBeside(shape, ["arm", "row", "what", "begin, s", "end, s"], rows.map((row) => [row.arm, row.row, row.name, number(row.begin), number(row.end)]));
  }

  function cache(section, set) {
    const rows = set.curves.flatMap((run) => (run.kv ?? []).flatMap(([, context, reserved, committed]) => [
      {arm: titled(run.arm), context, what: "reserved", value: reserved / mebi},
      ...(committed === null ? [] : [{arm: titled(run.arm), context, what: "committed", value: committed / mebi}])]));
    if (!rows.length) return;
    const scale = armScale(usedArms(rows));
    const shape = figure(section, "The cache against the tokens that live in it: reserved (whole lines) and committed (broken lines).", {
      data: {values: rows}, height: 280,
      mark: {type: "line", interpolate: "step-after", strokeWidth: 2, point: {size: 25}, tooltip: true},
      encoding: {x: {field: "context", type: "quantitative", title: "live tokens"},
                 y: {field: "value", type: "quantitative", title: "MiB"},
                 color: {field: "arm", type: "nominal", scale: scale.colour, title: null},
                 shape: {field: "arm", type: "nominal", scale: scale.shape, title: null},
                 strokeDash: {field: "what", type: "nominal", title: null, legend: {symbolType: "stroke", symbolStrokeColor: "currentColor"},
                   scale: {domain: ["reserved", "committed"], range: [[1, 0], [4, 3]]}}},
    });
    numbersBeside(shape, ["arm", "live tokens", "what", "MiB"], rows.map((row) => [row.arm, number(row.context), row.what, number(row.value)]));
  }

  function memory(section, set) {
    const rows = set.curves.flatMap((run) => (run.rss ?? []).map(([seconds, bytes]) => ({arm: titled(run.arm), seconds, value: bytes / mebi})));
    if (!rows.length) return;
    const scale = armScale(usedArms(rows));
    const shape = figure(section, "Resident memory of the process over time, as the kernel counts it.", {
      data: {values: rows}, height: 260, mark: {type: "line", strokeWidth: 2, tooltip: true},
      encoding: {x: {field: "seconds", type: "quantitative", title: "seconds since the process began"}, y: {field: "value", type: "quantitative", title: "MiB"},
                 color: {field: "arm", type: "nominal", scale: scale.colour, title: null},
                 strokeDash: {field: "arm", type: "nominal", scale: scale.dash, title: null}},
    });
    numbersBeside(shape, ["arm", "s", "MiB"], rows.map((row) => [row.arm, number(row.seconds), number(row.value)]));
  }

  intro();
  data.sets.forEach((set, i) => {
    const section = add(main, "section", undefined, {id: `set-${i}`});
    add(section, "h2", set.name);
    const protocol = set.protocol;
    const known = [set.model && set.model.split("/").pop(), protocol.prompt_tokens && `${protocol.prompt_tokens} prompt tokens`,
      protocol.tokens && `${protocol.tokens} generated`, protocol.ladder.length && `ladder ${protocol.ladder.join(", ")}`,
      protocol.cores.length && `cores ${protocol.cores.join(", ")}`].filter(Boolean);
    add(section, "p", known.join("; "), {class: "soft"});
    endpoints(section, set);
    dots(section, set);
    byContext(section, set);
    effects(section, set);
    boundaries(section, set);
    timeline(section, set);
    cache(section, set);
    memory(section, set);
  });
  if (data.failures.length) {
    add(main, "h2", "Runs that failed");
    table(main, ["set", "arm", "block", "why"], data.failures.map((run) => [run.set, titled(run.arm), run.block + 1, run.error]));
  }
  let waiting;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { for (const redraw of redraws) redraw(); }, 150);
  });
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
  // For those who test the page: everything has been tried.
  Promise.all(drawing).then(() => { document.body.dataset.done = "yes"; });
})();
