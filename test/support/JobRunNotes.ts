/** The name of the connections by which a runner notes the runs of its handlers. */
export const noterOf = (pid: number) => `runs of ${pid}`
