import { assert } from "@effect/vitest"
import { type PluginTestApp, type TestActor, testAdminActor } from "stoa/plugin/testing"
import { waitFor } from "../support/waitFor.ts"

/** A value of an answer by its path: `items.0.id`. */
export const valueAt = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => Reflect.get(Object(value), name), body)

/** A request of a guide: its lines are a name, the request, headers and a body, of which all but the request may be absent. */
const partsOf = (text: string) => {
  const [, name, method = "", path = "", headers = "", body = ""] =
    /^(?:# (\w+)\n)?([A-Z]+) (\S+)\n?((?:[\w-]+: .+\n?)*)([\s\S]*)$/.exec(text.trim()) ?? assert.fail(text)
  return {
    name,
    method,
    path,
    body,
    headers: Object.fromEntries(
      [...headers.matchAll(/^([\w-]+): (.+)$/gm)].map(([, key = "", value = ""]) => [key, value])
    )
  }
}

/** What a guide shows of an answer: objects with these fields among others, lists with as many elements. */
const agrees = (shown: unknown, given: unknown, where: string): void => {
  if (Array.isArray(shown)) {
    assert.strictEqual(Array.isArray(given) ? given.length : undefined, shown.length, where)
    shown.forEach((one, n) => agrees(one, Reflect.get(Object(given), n), `${where}.${n}`))
  } else if (typeof shown === "object" && shown !== null) {
    for (const [name, value] of Object.entries(shown)) {
      agrees(value, Reflect.get(Object(given), name), `${where}.${name}`)
    }
  } else assert.deepStrictEqual(given, shown, where)
}

/** Who asks beside staff and visitors, and what happens while time passes. */
interface Cast {
  readonly customers?: Readonly<Record<string, TestActor>>
  /** The API keys of others: `{ nora: "login.apiKey" }` is a field of an answer. */
  readonly keys?: Readonly<Record<string, string>>
  /** What requests may name from the beginning. */
  readonly known?: Readonly<Record<string, unknown>>
  readonly clock?: PluginTestApp["clock"]
  /** Gives what requests may name after it, such as the tokens of mails. */
  readonly later?: () => Promise<Readonly<Record<string, unknown>>>
}

/** `{{in 3 days}}` and `{{in 4 days at 10:00}}`, by a clock. */
const momentsIn = (text: string, now: number) =>
  text.replaceAll(/\{\{in (\d+) days(?: at (\d\d:\d\d))?\}\}/g, (_, days: string, time?: string) => {
    const at = new Date(now + Number(days) * 86_400_000).toISOString()
    return time === undefined ? at : `${at.slice(0, 10)}T${time}:00.000Z`
  })

/**
 * Sends the requests of a guide in their order: blocks ```` ```http ```` those of staff, ```` ```http shopper ```` without
 * credentials, others by the customer or with the key that they name. Each has to succeed, and a block ```` ```json ```` has to be a part of
 * the `data` of the answer before it, which a read may have to wait for. `> 8 days later` lets time pass. Gives the data of
 * the answers that have a name.
 */
export const runGuide = async ({ request }: PluginTestApp["app"], guide: string, cast: Cast = {}) => {
  const { clock, customers = {}, keys = {}, known = {}, later } = cast
  const answers = new Map<string, unknown>(Object.entries(known))
  const filled = (text: string) =>
    momentsIn(text, clock?.now() ?? 0).replaceAll(/\{\{(\w+)\.([\w.]+)\}\}/g, (whole, name: string, path: string) => {
      const value = valueAt(answers.get(name), path)
      return value === undefined ? assert.fail(`${whole} is in no answer`) : String(value)
    })
  const send = async (one: string, who = "staff") => {
    const { body, headers, method, name, path } = partsOf(filled(one))
    const as = who === "staff" ? testAdminActor : customers[who]
    const answer = await request(method, path, {
      headers: { ...headers, ...(who in keys && { "x-api-key": filled(`{{${keys[who]}}}`) }) },
      ...(as && { as }),
      ...(body !== "" && { body: JSON.parse(body) })
    })
    assert.isBelow(answer.status, 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    const data = valueAt(answer.body, "data")
    if (name !== undefined) answers.set(name, data)
    return { data, where: `${method} ${path}`, again: method === "GET" ? () => send(one, who) : undefined }
  }
  let last: Awaited<ReturnType<typeof send>> | undefined
  const blocks = /^(?:```(http|json)(?: (\w+))?\n([\s\S]*?)^```|> (\d+ \w+) later)$/gm
  for (const [, kind, who, text = "", time] of guide.matchAll(blocks)) {
    if (time !== undefined) {
      // The guide says it as the clock reads it: "8 days".
      clock?.advance(time as `${number} days`)
      for (const [name, data] of Object.entries(await later?.() ?? {})) answers.set(name, data)
    } else if (kind === "http") { for (const one of text.split(/\n{2,}/)) last = await send(one, who) }
    else if (last !== undefined) {
      const { again, data, where } = last
      const check = (given: unknown) => agrees(JSON.parse(filled(text)), given, where)
      if (again === undefined) check(data)
      else await waitFor(where, async () => (check((await again()).data), true))
    }
  }
  return {
    answer: (path: string) => valueAt(answers.get(path.split(".")[0] ?? ""), path.split(".").slice(1).join("."))
  }
}

/** The routes that the section "Routes" of a plugin's README names, each as method and path. */
export const routesNamedIn = (readme: string): ReadonlyArray<string> =>
  [...(/^## Routes$([\s\S]*?)^## /m.exec(readme)?.[1] ?? "").matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = ""]) => {
    let path = ""
    // From its end, because "`POST`, `GET /shifts`" gives its path last.
    return [...cell.matchAll(/`([A-Z]+)(?: (\S+))?`/g)].toReversed().map(([, method, given]) => {
      path = given ?? path
      return `${method} ${path}`
    })
  }).toSorted()

/** The routes that are served below a path, as READMEs name them. */
export const servedBy = ({ routes }: Pick<PluginTestApp, "routes">, prefix: string): ReadonlyArray<string> =>
  routes.filter(({ path }) => path.startsWith(`${prefix}/`))
    .map(({ method, path }) => `${method} ${path.slice(prefix.length).replaceAll(/:(\w+)/g, "{$1}")}`).toSorted()
