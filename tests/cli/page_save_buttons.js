// Tells whether each button that saves is on the screen as the page begins.
function use() {
  const {clientHeight, clientWidth} = document.documentElement;
  shown.seen = [...document.querySelectorAll('#save button')].map((button) => {
    const {left, right, top, bottom} = button.getBoundingClientRect();
    return right > left && left >= 0 && right <= clientWidth && top >= 0 && bottom <= clientHeight;
  });
  shown.below = document.getElementById('panel').getBoundingClientRect().left === 0;
}

usePage(use);
