import { freePort } from "../../src/layers/FreePort.ts"
import { type ChildServer, startChild } from "./ChildServer.ts"

/** The address every measurement of a start waits for: it goes through routing, permission, SQL and encoding. */
export const firstAnswer = "/api/catalog/entities?limit=1"

/** Flags for the server's Node, for profiles: `BENCH_NODE_ARGS="--cpu-prof --cpu-prof-dir=tmp"`. */
const nodeFlags = (process.env["BENCH_NODE_ARGS"] ?? "").split(" ").filter((flag) => flag !== "")

/** Signs the sessions of a measurement. */
export const benchAuthSecret = "a secret for measurements, known to everybody"

/**
 * Stoa as a separate process, as `npm start` runs it, without log lines. Outside production, because the payment method
 * `test` exists only there. Either on a database, or on a data directory with the embedded server.
 */
export const startStoa = async (
  where: { readonly databaseUrl: string } | { readonly dataDir: string },
  node: { readonly args: ReadonlyArray<string>; readonly env: Readonly<Record<string, string>> } = { args: [], env: {} }
): Promise<ChildServer> => {
  const port = await freePort()
  return startChild({
    args: [...nodeFlags, ...node.args, "src/main.ts", "serve"],
    env: {
      ...node.env,
      ...("databaseUrl" in where ? { DATABASE_URL: where.databaseUrl } : { STOA_DATA_DIR: where.dataDir }),
      STOA_AUTH_SECRET: benchAuthSecret,
      STOA_DEV_API_KEY: "dev-admin-key",
      PORT: String(port),
      STOA_RUNNER_PORT: "0",
      // All the load comes from one address. It is counted and reported as always, and never refused.
      STOA_RATE_LIMIT_FACTOR: "1000",
      STOA_LOG_LEVEL: "none"
    },
    port,
    probe: firstAnswer
  })
}
