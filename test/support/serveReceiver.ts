import { appendFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import { Webhook } from "standardwebhooks"

/**
 * A receiver of webhooks as a separate process: verifies each request with the public library, notes it in the file
 * STOA_TEST_ARRIVALS, a line each, and answers 204, or 400 to what it did not accept. Before and after the note it works
 * for some milliseconds, so that a kill also hits what is noted and not answered.
 */
const { PORT, STOA_TEST_ARRIVALS = "", STOA_TEST_SECRET = "" } = process.env

const webhook = new Webhook(STOA_TEST_SECRET)

const accepts = (body: string, headers: IncomingMessage["headers"]): boolean => {
  try {
    webhook.verify(body, Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])))
    return true
  } catch {
    return false
  }
}

const receive = async (request: IncomingMessage, response: ServerResponse) => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString("utf8")
  const accepted = accepts(body, request.headers)
  await pause(Math.random() * 20)
  appendFileSync(STOA_TEST_ARRIVALS, `${JSON.stringify({ id: request.headers["webhook-id"], accepted, body })}\n`)
  await pause(Math.random() * 20)
  response.writeHead(accepted ? 204 : 400).end()
}

createServer((request, response) => {
  receive(request, response).catch(() => response.destroy())
}).listen(Number(PORT), "127.0.0.1", () => process.stdout.write("listening\n"))
