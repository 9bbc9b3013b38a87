// A worker that ticks: browsers let the timers of a page in the background sleep for a minute, a worker's not.

let ticking;
onmessage = ({ data: ms }) => {
  clearInterval(ticking);
  ticking = setInterval(() => postMessage(null), ms);
};
