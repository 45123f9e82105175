import { freePort } from "../../src/layers/FreePort.ts"
import { type ChildServer, startChild } from "./ChildServer.ts"

/** The limit: `node:http` and the driver `pg`, see `bench/bare`. */
export const startBare = async (databaseUrl: string, prepare: boolean): Promise<ChildServer> => {
  const port = await freePort()
  return startChild({
    args: ["bench/bare/main.ts"],
    env: { DATABASE_URL: databaseUrl, PORT: String(port), BARE_PREPARE: String(prepare), NODE_ENV: "production" },
    port,
    probe: "/api/catalog/entities?limit=1"
  })
}
