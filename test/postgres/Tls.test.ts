import { assert, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { chmod, chown, copyFile, readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Client } from "pg"
import { stoa } from "../support/Command.ts"
import { eventually } from "../support/Eventually.ts"
import { separateServer } from "../support/SeparateServer.ts"
import { startService } from "../support/Service.ts"

const fixture = (name: string) => fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url))

/** Asks the server as its superuser, who needs no encryption. */
const asking = async <A>(url: string, body: (client: Client) => Promise<A>): Promise<A> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  return await body(client).finally(() => client.end())
}

/** Switches encryption on with a certificate; refuses connections without encryption, except from the user `plain`. */
const encrypt = async (url: string, certificate: string): Promise<void> => {
  const [{ data_directory: data }] = await asking(
    url,
    (client) => client.query("show data_directory").then(({ rows }) => rows)
  )
  const { gid, uid } = await stat(data)
  for (const [name, source] of [["server.crt", certificate], ["server.key", "server.key"]] as const) {
    await copyFile(fixture(source), join(data, name))
    await chown(join(data, name), uid, gid)
    await chmod(join(data, name), 0o600)
  }
  const rules = join(data, "pg_hba.conf")
  const encrypted = (await readFile(rules, "utf8")).replaceAll(/^host\s/gm, "hostssl ")
  await writeFile(rules, `host all plain all trust\n${encrypted}`)
  await asking(url, async (client) => {
    await client.query("create role plain superuser login")
    await client.query("alter system set ssl = on")
    await client.query("select pg_reload_conf()")
  })
}

/** Servers that take encrypted connections only: the certificate of one is for this host, that of the other is not. */
class Servers extends Context.Service<Servers, { readonly own: string; readonly elsewhere: string }>()(
  "test/postgres/Tls/Servers"
) {
  static readonly layer = Layer.effect(
    Servers,
    Effect.gen(function*() {
      const [own, elsewhere] = [yield* separateServer, yield* separateServer]
      yield* Effect.promise(() =>
        Promise.all([encrypt(own.url, "server.pem"), encrypt(elsewhere.url, "elsewhere.pem")])
      )
      return { own: own.url, elsewhere: elsewhere.url }
    })
  )
}

const migrating = (url: string, parameters: string) => stoa(["migrate"], { DATABASE_URL: `${url}?${parameters}` })

const ca = `sslrootcert=${fixture("ca.pem")}`

layer(Servers.layer, { excludeTestServices: true, timeout: "60 seconds" })("a server that takes TLS only", (it) => {
  it.effect("is refused where its certificate is not trusted or not for the host, and only there", () =>
    Effect.gen(function*() {
      const { elsewhere, own } = yield* Servers
      for (
        const [url, parameters, words] of [
          [own, "", /no pg_hba\.conf entry .* no encryption/],
          [own, "sslmode=disable", /no pg_hba\.conf entry .* no encryption/],
          [own, "ssl=true", /unable to (verify|get)/],
          [own, "sslmode=require", /unable to (verify|get)/],
          [elsewhere, `sslmode=verify-full&${ca}`, /does not match certificate/],
          [elsewhere, `sslmode=require&${ca}`, /does not match certificate/]
        ] as const
      ) {
        const { code, output } = yield* migrating(url, parameters)
        assert.strictEqual(code, 1, `${parameters}: ${output}`)
        assert.match(output, words)
      }
      for (
        const [url, parameters] of [
          [own, `ssl=true&${ca}`],
          [own, ca],
          [own, `sslmode=verify-full&${ca}`],
          [elsewhere, `sslmode=verify-ca&${ca}`]
        ] as const
      ) {
        const { code, output } = yield* migrating(url, parameters)
        assert.strictEqual(code, 0, `${parameters}: ${output}`)
      }
    }))

  it.effect("has no connection of the service that is not encrypted", () =>
    Effect.gen(function*() {
      const { own } = yield* Servers
      yield* startService({ databaseUrl: `${own}?sslmode=verify-full&${ca}` })
      const plain = new URL(own)
      plain.username = "plain"
      const names = [
        "stoa",
        "stoa-cluster-locks",
        "stoa-cluster-messages",
        "stoa-cluster-runners",
        "stoa-lookups",
        "stoa-notifications",
        "stoa-process"
      ]
      const connections = Effect.promise(() =>
        asking(plain.href, (client) =>
          client.query(
            `select application_name as name, bool_and(ssl) as encrypted from pg_stat_activity
             join pg_stat_ssl using (pid) where application_name like 'stoa%' group by 1 order by 1`
          ).then(({ rows }) => rows))
      )
      // A session that was lost on a busy machine comes back within a second.
      yield* eventually("all connections", Effect.map(connections, ({ length }) => length === names.length))
      assert.deepStrictEqual(yield* connections, names.map((name) => ({ name, encrypted: true })))
    }))
})

it.effect("what DATABASE_URL asks for and cannot be had ends a command", () =>
  Effect.gen(function*() {
    const url = "postgres://shop:secret@127.0.0.1:1/shop"
    for (
      const [parameters, words] of [
        ["ssl=on", /DATABASE_URL with ssl="on" is not allowed: expected true or false/],
        ["sslmode=no-verify", /with sslmode="no-verify" is not allowed: expected disable, .*verify-full/],
        ["sslmode=require&sslrootcert=/no/such.pem", /with sslrootcert="\/no\/such\.pem".* file that can be read/],
        ["channel_binding=require", /with channel_binding="require" is not allowed: expected none but /]
      ] as const
    ) {
      const { code, output } = yield* migrating(url, parameters)
      assert.strictEqual(code, 1, output)
      assert.match(output, words)
    }
  }))
