/** What a server has done for requests since its start. */
export interface Counts {
  /** Steps of the loops of all fibers. */
  readonly operations: number
  readonly fibers: number
  readonly spans: number
  /** Calls by text. */
  readonly statements: Readonly<Record<string, number>>
  /** Operations by the place in the sources that they come from; empty unless the server was asked for it. */
  readonly sources: Readonly<Record<string, number>>
}
