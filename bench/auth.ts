import { createHash, randomUUID } from "node:crypto"
import { signToken } from "../src/domain/platform/access/SentCredential.ts"
import { median } from "./measure/Figures.ts"
import { atLeast, heading, note, record, table } from "./measure/Report.ts"
import { flowsOf, measureWindow, type Window } from "./measure/Window.ts"
import { printWindows, rateOf } from "./measure/WindowReport.ts"
import type { Options } from "./Options.ts"
import { onDatabase } from "./servers/BenchPostgres.ts"
import type { Stage } from "./servers/Stage.ts"
import { benchAuthSecret } from "./servers/StoaServer.ts"

/** The least share of the anonymous rate that a credential may leave: it is looked up once and then cached. */
const leastShare = 0.8

const token = "BenchSessionTokenOf32Characters1"
const key = "stoa_bench-key-of-the-role-staff-0123456789abcdef"

/** Somebody who is signed in, a member with the role staff, and a key of that role. */
const seedCredentials = (url: string) =>
  onDatabase(url, async (client) => {
    const user = randomUUID()
    await client.query("insert into users (id, name, email) values ($1, 'Bench', 'bench@example.com')", [user])
    await client.query(
      "insert into sessions (token, user_id, expires_at) values ($1, $2, now() + interval '7 days')",
      [createHash("sha256").update(token).digest("hex"), user]
    )
    await client.query("insert into members (organization_id, user_id, role) values ('org_default', $1, 'staff')", [
      user
    ])
    await client.query(
      "insert into api_keys (name, key, reference_id, organization_id, role) values ('Bench', $1, $2, $2, 'staff')",
      [createHash("sha256").update(key).digest("base64url"), "org_default"]
    )
  })

/** What each kind of caller sends. */
const callers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  anonymous: {},
  bearer: { authorization: `Bearer ${token}` },
  "signed bearer": { authorization: `Bearer ${signToken(token, benchAuthSecret)}` },
  cookie: { cookie: `uc.session_token=${encodeURIComponent(signToken(token, benchAuthSecret))}` },
  key: { "x-api-key": key }
}

const cpuOf = (windows: ReadonlyArray<Window>): number =>
  median(windows.map((window) => window.server.cpuMs / Math.max(1, flowsOf(window))))

/** One product by its slug, asked by each kind of caller in turn, so that a slow stretch of the machine meets all. */
export const runAuth = async (stage: Stage, options: Options): Promise<void> => {
  const users = options.users ?? 16
  heading(`who asks: product by slug with each credential, ${users} users`)
  await seedCredentials(stage.postgres.urlOf("stoa"))
  const windowOf = (headers: Readonly<Record<string, string>>, warmup: number) =>
    measureWindow(stage.postgres, stage.stoa, {
      flow: "product",
      users,
      warmup,
      seconds: options.seconds ?? 4,
      flows: 0,
      products: options.products,
      firstCart: 0,
      headers
    })
  // The first requests to a new server are slow.
  await windowOf({}, 5)
  const windows = new Map<string, Array<Window>>(Object.keys(callers).map((caller) => [caller, []]))
  for (let round = 0; round < options.windows; round++) {
    for (const [caller, headers] of Object.entries(callers)) {
      windows.get(caller)?.push(await windowOf(headers, options.warmup ?? 2))
    }
  }
  for (const [caller, of] of windows) printWindows(caller, of)
  const rates = [...windows].map(([caller, of]) => [caller, rateOf(of, "stoa"), cpuOf(of)] as const)
  const [, anonymous = 0] = rates[0] ?? []
  note("median of each, beside that of anonymous callers; cpu: milliseconds of the server for a request:")
  table(
    ["caller", "requests/s", "share", "cpu"],
    rates.map(([caller, rate, cpu]) => [caller, rate, rate / anonymous, cpu])
  )
  record("auth", { rates })
  for (const [caller, rate] of rates.slice(1)) {
    atLeast(`${caller} against anonymous`, rate / anonymous, leastShare, " x")
  }
}
