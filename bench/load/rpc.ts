import { percentile } from "../measure/Figures.ts"

/*
 * Calls over one WebSocket: so many callers, each of which calls again when it is answered. Without a typed client, whose own
 * work would be a part of the figure. Prints what it measured as JSON.
 */
const [url = "", key = "", callers = "64", warmup = "2", seconds = "4"] = process.argv.slice(2)

const headers = key === "" ? [] : [["x-api-key", key]]
const socket = new WebSocket(`${url.replace(/^http/, "ws")}/rpc`)
const since = new Map<string, number>()
const times: Array<number> = []
let calls = 0
let counting = false

const call = () => {
  const id = String(++calls)
  since.set(id, performance.now())
  const payload = { entityIds: [] }
  socket.send(`${JSON.stringify({ _tag: "Request", id, tag: "inventory.check", payload, headers })}\n`)
}

const fail = (reason: string) => {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

socket.addEventListener("error", () => fail("no connection"))
socket.addEventListener("message", ({ data }) => {
  for (const line of String(data).split("\n")) {
    if (line === "") continue
    const answer = JSON.parse(line) as { readonly requestId: string; readonly exit?: { readonly _tag: string } }
    if (answer.exit?._tag !== "Success") fail(line)
    const began = since.get(answer.requestId) ?? 0
    since.delete(answer.requestId)
    if (counting) times.push(performance.now() - began)
    call()
  }
})
socket.addEventListener("open", () => {
  for (let caller = 0; caller < Number(callers); caller++) call()
  setTimeout(() => {
    counting = true
    const began = performance.now()
    setTimeout(() => {
      const rate = times.length / ((performance.now() - began) / 1_000)
      const sorted = times.sort((left, right) => left - right)
      process.stdout.write(JSON.stringify({ rate, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) }))
      process.exit(0)
    }, Number(seconds) * 1_000)
  }, Number(warmup) * 1_000)
})
